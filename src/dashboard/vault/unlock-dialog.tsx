import { type FormEvent, useState } from 'react';
import { useRead } from '../api/query.ts';
import { graphql } from '../generated/gql.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { FormStack } from '../ui/page.tsx';
import { setVaultKey } from './unlocked.ts';
import { unlock } from './vault-key.ts';

const VaultCheckOfAccount = graphql(`
  query VaultCheckOfAccount {
    me {
      account {
        vault {
          vaultSaltB64
          vaultCheckB64
        }
      }
    }
  }
`);

/** Asks for the passphrase of the vault, and keeps its key for as long as the page is open. */
export function UnlockDialog({ onClose }: { readonly onClose: () => void }) {
  const vault = useRead(VaultCheckOfAccount, {}, ['account']).me?.account.vault;
  const [passphrase, setPassphrase] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  if (!vault) {
    return (
      <Dialog
        title="No vault yet"
        onClose={onClose}
        footer={<ButtonLink to="/account/keys">Create a vault</ButtonLink>}
      >
        <p>A vault encrypts notes in this browser. Create one with a passphrase that only you know.</p>
      </Dialog>
    );
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      const key = await unlock(passphrase, vault);
      if (key === null) return setError('This is not the passphrase of your vault.');
      setVaultKey(key);
      onClose();
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown.message : 'The vault cannot be opened.');
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog
      title="Unlock the vault"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="unlock-vault" busy={isBusy}>
            Unlock
          </Button>
        </>
      }
    >
      <form id="unlock-vault" onSubmit={submit}>
        <FormStack>
          <p>
            The passphrase never leaves this browser. The vault stays open until you close or reload the page.
          </p>
          <TextField
            label="Passphrase"
            type="password"
            autoComplete="off"
            required
            value={passphrase}
            onChange={setPassphrase}
            error={error}
          />
        </FormStack>
      </form>
    </Dialog>
  );
}
