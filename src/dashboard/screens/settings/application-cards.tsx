import { useState } from 'react';
import type { SettingsScreenQuery } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Mono } from '../../ui/text.tsx';
import { Day } from '../../ui/time.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { ExportCard } from './export-card.tsx';
import styles from './settings.module.css';

type Application = NonNullable<SettingsScreenQuery['application']>;

/** What is known of the application, and what can be done with it as a whole. */
export function ApplicationCards({ application }: { readonly application: Application }) {
  const { id, name, createdAt, updatedAt, publicKeyB64 } = application;
  const [isDeleting, setIsDeleting] = useState(false);
  return (
    <>
      <Card title="Application">
        <Facts
          facts={[
            ['Name', name],
            ['Created', <Day key="created" at={createdAt} />],
            ['Changed', <Day key="changed" at={updatedAt} />],
            [
              'Id',
              <span key="id" className={styles.key}>
                <Mono>{id}</Mono>
                <CopyButton text={id} label="Copy id" />
              </span>,
            ],
            [
              'Public key',
              <span key="publicKey" className={styles.key}>
                <Mono>{publicKeyB64}</Mono>
                <CopyButton text={publicKeyB64} label="Copy public key" />
              </span>,
            ],
          ]}
        />
        <p className={styles.note}>
          Your program has the id and the public key built in: with the key it checks that answers are from
          this service. The name cannot be changed.
        </p>
      </Card>
      <ExportCard application={application} />
      <Card title="Delete">
        <div className={styles.card}>
          <p>Deletes the application with everything in it. Its customers are refused from then on.</p>
          <Button look="danger" onClick={() => setIsDeleting(true)}>
            Delete application…
          </Button>
        </div>
      </Card>
      {isDeleting && <DeleteDialog application={application} onClose={() => setIsDeleting(false)} />}
    </>
  );
}
