import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { setVaultKey } from '../../vault/unlocked.ts';
import { createVault } from '../../vault/vault-key.ts';
import { adviceOn, leastLetters } from './passphrase-advice.ts';

const KeyCreationSetVault = graphql(`
  mutation KeyCreationSetVault($input: SetVaultInput!) {
    setVault(input: $input) {
      account {
        id
      }
    }
  }
`);

interface SetPassphraseProps {
  /** Whether there is a vault, whose notes cannot be opened afterwards. */
  readonly isReplacement: boolean;
  readonly onClose: () => void;
}

/** Creates a vault; the service stores only what recognizes the passphrase. */
export function SetPassphrase({ isReplacement, onClose }: SetPassphraseProps) {
  const [passphrase, setPassphrase] = useState('');
  const [again, setAgain] = useState('');
  const [password, setPassword] = useState('');
  const [isUnderstood, setIsUnderstood] = useState(false);
  const [wasAsked, setWasAsked] = useState(false);
  const store = useChange(KeyCreationSetVault);
  const create = useMutation({
    mutationFn: async () => {
      const { key, check } = await createVault(passphrase);
      await store.mutateAsync({ input: { ...check, password } });
      return key;
    },
    onSuccess: (key) => {
      setVaultKey(key);
      tell(isReplacement ? 'The passphrase was changed. The vault is open.' : 'The vault is open.');
      onClose();
    },
  });
  const advice = adviceOn(passphrase);
  const differs = again !== '' && again !== passphrase;
  const submit = () => {
    setWasAsked(true);
    if (passphrase === again && passphrase.length >= leastLetters && isUnderstood) create.mutate();
  };
  return (
    <FormDialog
      title={isReplacement ? 'Change the passphrase' : 'Create a vault'}
      action={isReplacement ? 'Change passphrase' : 'Create vault'}
      look={isReplacement ? 'danger' : 'primary'}
      busy={create.isPending}
      error={besidesPassword(create.error)}
      onSubmit={submit}
      onClose={onClose}
    >
      <Notice>
        {isReplacement
          ? 'Notes that were encrypted with the old passphrase cannot be opened afterwards, not even with the old passphrase. They are not encrypted again by themselves. If you need them, first open each one and copy its text, and write it again afterwards.'
          : 'The passphrase cannot be recovered, not even by the operator. Without it, encrypted notes are lost. Keep a copy in a safe place.'}
      </Notice>
      <TextField
        label={isReplacement ? 'New passphrase' : 'Passphrase'}
        hint={
          <span aria-live="polite">
            {advice?.text ?? 'Five or more random words are strong and can be remembered.'}
          </span>
        }
        type="password"
        autoComplete="off"
        required
        minLength={leastLetters}
        value={passphrase}
        onChange={setPassphrase}
      />
      <TextField
        label="The same again"
        type="password"
        autoComplete="off"
        required
        value={again}
        onChange={setAgain}
        error={differs ? 'This is not the same as the passphrase.' : null}
      />
      <PasswordField
        label="Password of your account"
        value={password}
        onChange={setPassword}
        error={create.error}
      />
      <CheckField
        label={
          isReplacement
            ? 'I understand that the notes encrypted so far are lost.'
            : 'I understand that the passphrase cannot be recovered.'
        }
        checked={isUnderstood}
        onChange={setIsUnderstood}
        error={wasAsked && !isUnderstood ? 'Confirm this first.' : null}
      />
    </FormDialog>
  );
}
