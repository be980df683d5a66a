import { ExportDialog } from '../../list/export-dialog.tsx';
import { countText, numberText } from '../../ui/format.ts';
import { logCsvHeader, logCsvLine } from './log-csv.ts';
import { type LogQuery, mostExported, readAllEntries } from './read-all.ts';

interface ExportLogProps {
  readonly applicationName: string;
  readonly log: LogQuery;
  /** How many match, as far as it is known. */
  readonly total: number;
  readonly onClose: () => void;
}

const doneText = (count: number): string =>
  `Downloaded ${numberText(count)} ${count === 1 ? 'entry' : 'entries'}.${
    count >= mostExported ? ' There are older ones: set a time filter to export them.' : ''
  }`;

/** Downloads the entries that match as CSV. */
export const ExportLog = ({ applicationName, log, total, onClose }: ExportLogProps) => (
  <ExportDialog
    title="Export log"
    progressLabel="Entries read"
    fileNameParts={[applicationName, 'log']}
    total={total}
    header={logCsvHeader}
    lineOf={logCsvLine}
    read={(signal) => readAllEntries(log, signal)}
    doneText={doneText}
    onClose={onClose}
  >
    {countText(total)} {total === 1 ? 'entry matches' : 'entries match'}. The file has a line for each, newest
    first: its id, time, event, verdict, license, user, device, address, actor and metadata. It has at most{' '}
    {numberText(mostExported)} lines: set a time filter for older ones.
  </ExportDialog>
);
