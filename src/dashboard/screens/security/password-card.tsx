import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ButtonRow, Card, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { SecurityProfile } from './profile-card.tsx';
import { SubmitForm } from './submit-form.tsx';

/** A new password ends all other sessions. */
export function PasswordCard() {
  const [password, setPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const [again, setAgain] = useState('');
  const change = useChange(SecurityProfile, {
    onDone: () => {
      tell('The password was changed. All other sessions have ended.');
      setPassword('');
      setNewPassword('');
      setAgain('');
    },
  });
  const differs = again !== '' && again !== newPassword;
  const submit = () => {
    if (newPassword === again) change.mutate({ input: { password, newPassword } });
  };
  const problem = issueFor(change.error, 'newPassword') === null ? besidesPassword(change.error) : null;
  return (
    <Card title="Password">
      <SubmitForm onSubmit={submit}>
        {problem !== null && <Problem error={problem} />}
        <PasswordField
          label="Current password"
          value={password}
          onChange={setPassword}
          error={change.error}
        />
        <TextField
          label="New password"
          hint="At least 12 characters. A few words are easier to remember than signs."
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          value={newPassword}
          onChange={setNewPassword}
          error={issueFor(change.error, 'newPassword')}
        />
        <TextField
          label="New password again"
          type="password"
          autoComplete="new-password"
          required
          value={again}
          onChange={setAgain}
          error={differs ? 'This is not the same as the new password.' : null}
        />
        <ButtonRow>
          <Button type="submit" busy={change.isPending}>
            Change password
          </Button>
        </ButtonRow>
      </SubmitForm>
    </Card>
  );
}
