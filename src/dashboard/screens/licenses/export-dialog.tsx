import { ExportDialog } from '../../list/export-dialog.tsx';
import { numberText } from '../../ui/format.ts';
import { licenseCsvHeader, licenseCsvLine } from './license-csv.ts';
import { type LicenseQuery, readAllLicenses } from './read-all.ts';

interface ExportLicensesProps {
  readonly applicationName: string;
  readonly licenses: LicenseQuery;
  /** How many match, as far as it is known. */
  readonly total: number;
  readonly onClose: () => void;
}

/** Downloads the licenses that match as CSV. Keys are not in it: nobody knows them any more. */
export const ExportLicenses = ({ applicationName, licenses, total, onClose }: ExportLicensesProps) => (
  <ExportDialog
    title="Export licenses"
    progressLabel="Licenses read"
    fileNameParts={[applicationName, 'licenses']}
    total={total}
    header={licenseCsvHeader}
    lineOf={licenseCsvLine}
    read={(signal) => readAllLicenses(licenses, signal)}
    doneText={(count) => `Downloaded ${numberText(count)} ${count === 1 ? 'license' : 'licenses'}.`}
    onClose={onClose}
  >
    {numberText(total)} {total === 1 ? 'license matches' : 'licenses match'}. The file has a line for each:
    its id, prefix, status, tier, devices, times, tags, policy and note. It has no keys, because the service
    does not know them.
  </ExportDialog>
);
