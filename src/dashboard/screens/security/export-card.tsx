import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useConfirmation } from '../../api/confirmation.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { download } from '../../ui/download.ts';
import { ButtonRow, Card, Problem, Stack } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import styles from './security.module.css';

const SecurityExport = graphql(`
  query SecurityExport {
    accountExport
  }
`);

/** All data of the account as a file. It is a query, but not one to cache or to repeat by itself. */
export function ExportCard() {
  const client = useQueryClient();
  const confirmed = useConfirmation();
  const save = useMutation({
    mutationFn: () => confirmed(() => request(SecurityExport, {})),
    onSuccess: ({ accountExport }) => {
      const day = new Date().toISOString().slice(0, 10);
      download(
        `latchkey-account-${day}.json`,
        [`${JSON.stringify(accountExport, null, 2)}\n`],
        'application/json',
      );
      tell('The export was saved as a file.');
      // A confirmation may have used a recovery code.
      void client.invalidateQueries();
    },
  });
  return (
    <Card title="Export">
      <Stack>
        {save.error && <Problem error={save.error} />}
        <p className={styles.text}>
          Everything that the service stores about the account, as a JSON file: profile, applications,
          policies, licenses without their keys, devices, users, bans, API keys without their tokens, webhooks
          without their secrets, sessions, and the newest 10,000 entries of the log. Handle it with care: it
          has personal data.
        </p>
        <ButtonRow>
          <Button busy={save.isPending} onClick={() => save.mutate()}>
            {save.isPending ? 'Exporting…' : 'Export account'}
          </Button>
        </ButtonRow>
      </Stack>
    </Card>
  );
}
