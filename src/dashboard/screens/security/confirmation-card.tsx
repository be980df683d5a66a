import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { Button } from '../../ui/button.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { ButtonRow, Card, Stack } from '../../ui/page.tsx';
import { Status } from '../../ui/status.tsx';
import { tell } from '../../ui/toast.ts';
import styles from './security.module.css';

const SecurityRequireConfirmation = graphql(`
  mutation SecurityRequireConfirmation($input: SetRequireConfirmationInput!) {
    setRequireConfirmation(input: $input) {
      security {
        requireConfirmation
      }
    }
  }
`);

interface ConfirmationCardProps {
  readonly isRequired: boolean;
  readonly isTotpOn: boolean;
}

/** Whether dangerous changes ask for the password. With two-step sign-in they always do. */
export function ConfirmationCard({ isRequired, isTotpOn }: ConfirmationCardProps) {
  const [isOpen, setIsOpen] = useState(false);
  const isOn = isRequired || isTotpOn;
  return (
    <Card
      title="Ask for my password before dangerous changes"
      aside={<Status tone={isOn ? 'ok' : 'idle'}>{isOn ? 'On' : 'Off'}</Status>}
    >
      <Stack>
        <p className={styles.text}>
          Somebody at your unlocked computer has your session, but not your password. With this on, the
          following ask for it: deleting the account, applications or licenses; changing the email, the
          password or the vault; API keys; webhooks; exports; and this setting. A confirmation lasts ten
          minutes.
          {isTotpOn && ' While two-step sign-in is on, they ask in any case.'}
        </p>
        <ButtonRow>
          <Button onClick={() => setIsOpen(true)}>
            {isRequired ? 'Turn off confirmations…' : 'Turn on confirmations…'}
          </Button>
        </ButtonRow>
      </Stack>
      {isOpen && <RequireConfirmation next={!isRequired} onClose={() => setIsOpen(false)} />}
    </Card>
  );
}

interface RequireConfirmationProps {
  readonly next: boolean;
  readonly onClose: () => void;
}

function RequireConfirmation({ next, onClose }: RequireConfirmationProps) {
  const [password, setPassword] = useState('');
  const set = useChange(SecurityRequireConfirmation, {
    onDone: () => {
      tell(next ? 'Dangerous changes ask for your password now.' : 'Dangerous changes no longer ask.');
      onClose();
    },
  });
  return (
    <FormDialog
      title={next ? 'Ask before dangerous changes' : 'Stop asking before dangerous changes'}
      action={next ? 'Turn on' : 'Turn off'}
      busy={set.isPending}
      error={besidesPassword(set.error)}
      onSubmit={() => set.mutate({ input: { password, requireConfirmation: next } })}
      onClose={onClose}
    >
      <PasswordField value={password} onChange={setPassword} error={set.error} />
    </FormDialog>
  );
}
