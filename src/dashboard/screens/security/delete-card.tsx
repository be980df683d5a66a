import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ButtonRow, Card, Stack } from '../../ui/page.tsx';
import { DeleteAccount } from './delete-account.tsx';
import styles from './security.module.css';

export function DeleteCard() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Card title="Delete the account">
      <Stack>
        <p className={styles.text}>
          Deletes the account with its applications, licenses, users and log, at once and for good. Export
          first what you want to keep.
        </p>
        <ButtonRow>
          <Button look="danger" onClick={() => setIsOpen(true)}>
            Delete account…
          </Button>
        </ButtonRow>
      </Stack>
      {isOpen && <DeleteAccount onClose={() => setIsOpen(false)} />}
    </Card>
  );
}
