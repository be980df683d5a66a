import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { ButtonRow, Card, Notice, Stack } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { tell } from '../../ui/toast.ts';
import { UnlockDialog } from '../../vault/unlock-dialog.tsx';
import { setVaultKey, useVaultKey } from '../../vault/unlocked.ts';
import type { VaultCheck } from '../../vault/vault-key.ts';
import styles from './key-creation.module.css';
import { SetPassphrase } from './set-passphrase.tsx';

interface VaultCardProps {
  /** Null until it was created. */
  readonly vault: VaultCheck | null;
  /** In private mode, notes can be written only with a vault. */
  readonly isNeeded: boolean;
}

/** The vault encrypts notes in the browser. They cannot be read without the passphrase. */
export function VaultCard({ vault, isNeeded }: VaultCardProps) {
  const isOpen = useVaultKey() !== null;
  const [dialog, setDialog] = useState<'passphrase' | 'unlock' | null>(null);
  const close = () => setDialog(null);
  const lock = () => {
    setVaultKey(null);
    tell('The vault is locked.');
  };
  return (
    <Card title="Vault for notes" aside={<VaultStatus isCreated={vault !== null} isOpen={isOpen} />}>
      <Stack>
        {isNeeded && vault === null && (
          <Notice>Private mode is on. Create a vault, so that you can write notes.</Notice>
        )}
        <p className={styles.text}>
          The vault encrypts the notes of private mode, with a key that this browser derives from your
          passphrase. The service stores neither the passphrase nor the key.
          {vault !== null &&
            (isOpen
              ? ' It is open until you lock it, or close or reload the page.'
              : ' Unlock it to read and write notes.')}
        </p>
        <ButtonRow>
          {vault === null && (
            <Button look={isNeeded ? 'primary' : 'plain'} onClick={() => setDialog('passphrase')}>
              Create a vault…
            </Button>
          )}
          {vault !== null && !isOpen && (
            <Button look="primary" onClick={() => setDialog('unlock')}>
              Unlock…
            </Button>
          )}
          {vault !== null && isOpen && <Button onClick={lock}>Lock</Button>}
          {vault !== null && <Button onClick={() => setDialog('passphrase')}>Change the passphrase…</Button>}
        </ButtonRow>
      </Stack>
      {dialog === 'unlock' && <UnlockDialog onClose={close} />}
      {dialog === 'passphrase' && <SetPassphrase isReplacement={vault !== null} onClose={close} />}
    </Card>
  );
}

const VaultStatus = ({ isCreated, isOpen }: { readonly isCreated: boolean; readonly isOpen: boolean }) => {
  if (!isCreated) return <Status tone="idle">None</Status>;
  return isOpen ? <Status tone="ok">Unlocked</Status> : <Status tone="warn">Locked</Status>;
};
