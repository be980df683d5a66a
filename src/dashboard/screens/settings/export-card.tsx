import { useMutation } from '@tanstack/react-query';
import { useConfirmation } from '../../api/confirmation.ts';
import { present } from '../../api/present.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { download } from '../../ui/download.ts';
import { Card, Problem } from '../../ui/page.tsx';
import styles from './settings.module.css';

const SettingsExport = graphql(`
  query SettingsExport($applicationId: ID!) {
    endUserExport(applicationId: $applicationId)
  }
`);

const fileNameOf = (name: string): string =>
  `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-users-${new Date().toISOString().slice(0, 10)}.json`;

interface ExportCardProps {
  readonly application: { readonly id: string; readonly name: string };
}

export function ExportCard({ application: { id, name } }: ExportCardProps) {
  const confirmed = useConfirmation();
  const read = useMutation({
    mutationFn: () => confirmed(() => request(SettingsExport, { applicationId: id })),
    onSuccess: ({ endUserExport }) =>
      download(fileNameOf(name), [JSON.stringify(present(endUserExport), null, 2)], 'application/json'),
  });
  return (
    <Card title="Users' data">
      <div className={styles.card}>
        <p>
          One JSON file with all users, licenses without their keys, devices, sessions, bans, and the newest
          10,000 log entries. At most 20,000 of each kind and 32 MB.
        </p>
        <Button busy={read.isPending} onClick={() => read.mutate()}>
          {read.isPending ? 'Reading…' : 'Download export'}
        </Button>
        {read.error && <Problem error={read.error} />}
      </div>
    </Card>
  );
}
