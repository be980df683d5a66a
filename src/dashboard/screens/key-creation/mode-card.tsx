import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { KeyCreationMode } from '../../generated/graphql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ButtonRow, Card, Stack } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { tell } from '../../ui/toast.ts';
import styles from './key-creation.module.css';

const KeyCreationSetMode = graphql(`
  mutation KeyCreationSetMode($input: SetKeyCreationModeInput!) {
    setKeyCreationMode(input: $input) {
      account {
        id
        keyCreationMode
      }
    }
  }
`);

/** Where keys are made: by the service, or in the browser. */
export function ModeCard({ mode }: { readonly mode: KeyCreationMode }) {
  const [isOpen, setIsOpen] = useState(false);
  const isPrivate = mode === 'private';
  return (
    <Card
      title="Where keys are made"
      aside={
        <Status tone={isPrivate ? 'ok' : 'idle'}>{isPrivate ? 'Private mode' : 'By the service'}</Status>
      }
    >
      <Stack>
        <p className={styles.text}>
          {isPrivate
            ? 'This browser makes the keys and sends only their hashes. The service never sees a key or the text of a note, so they cannot be read there, neither by the operator nor from a stolen database.'
            : 'The service makes the keys, shows each one once, and stores only its hash. It can read your notes.'}
        </p>
        <p className={styles.text}>
          {isPrivate
            ? 'Programs that mint with an API key must make keys themselves too, and send hashes. Notes need the vault.'
            : 'In private mode, this browser makes the keys and encrypts the notes. The service then never sees either. Programs that mint with an API key must then make keys themselves, and send hashes: otherwise they are refused.'}
        </p>
        <ButtonRow>
          <Button onClick={() => setIsOpen(true)}>
            {isPrivate ? 'Let the service make keys…' : 'Turn on private mode…'}
          </Button>
        </ButtonRow>
      </Stack>
      {isOpen && <ChangeMode next={isPrivate ? 'default' : 'private'} onClose={() => setIsOpen(false)} />}
    </Card>
  );
}

interface ChangeModeProps {
  readonly next: KeyCreationMode;
  readonly onClose: () => void;
}

function ChangeMode({ next, onClose }: ChangeModeProps) {
  const [password, setPassword] = useState('');
  const toPrivate = next === 'private';
  const change = useChange(KeyCreationSetMode, {
    onDone: () => {
      tell(toPrivate ? 'Private mode is on.' : 'The service makes the keys now.');
      onClose();
    },
  });
  return (
    <FormDialog
      title={toPrivate ? 'Turn on private mode?' : 'Let the service make keys?'}
      action={toPrivate ? 'Turn on' : 'Turn off private mode'}
      busy={change.isPending}
      error={besidesPassword(change.error)}
      onSubmit={() => change.mutate({ input: { mode: next, password } })}
      onClose={onClose}
    >
      <p>
        {toPrivate
          ? 'Keys and notes that exist stay as they are: notes that the service can read are not encrypted afterwards. Programs that mint with an API key, and do not send hashes, are refused from now on.'
          : 'From now on, the service sees each new key once, when it makes it, and can read new notes. Encrypted notes stay encrypted, and still need the vault.'}
      </p>
      <PasswordField value={password} onChange={setPassword} error={change.error} />
    </FormDialog>
  );
}
