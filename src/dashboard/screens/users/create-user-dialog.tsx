import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { present } from '../../api/present.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { tell } from '../../ui/toast.ts';

const UsersCreate = graphql(`
  mutation UsersCreate($input: CreateEndUserInput!) {
    createEndUser(input: $input) {
      user {
        id
        username
      }
    }
  }
`);

interface CreateUserDialogProps {
  readonly applicationId: string;
  readonly onClose: () => void;
}

export function CreateUserDialog({ applicationId, onClose }: CreateUserDialogProps) {
  const navigate = useNavigate();
  const [username, setUsername] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [licenseKey, setLicenseKey] = useState('');
  const { mutate, error, isPending } = useChange(UsersCreate, {
    onDone: ({ createEndUser }) => {
      const { user } = present(createEndUser);
      tell(`User ${user.username} created`);
      onClose();
      void navigate({
        to: '/applications/$applicationId/users/$userId',
        params: { applicationId, userId: user.id },
      });
    },
  });
  const submit = () =>
    mutate({
      input: {
        applicationId,
        username: username.trim(),
        password,
        ...(email.trim() !== '' && { email: email.trim() }),
        ...(licenseKey.trim() !== '' && { licenseKey: licenseKey.trim() }),
      },
    });
  return (
    <FormDialog
      title="Create user"
      action="Create user"
      busy={isPending}
      error={formError(error, 'username', 'password', 'email', 'licenseKey')}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Username"
        hint="3 to 64 characters: letters, digits and . _ -"
        required
        minLength={3}
        maxLength={64}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={username}
        onChange={setUsername}
        error={issueFor(error, 'username')}
      />
      <TextField
        label="Password"
        hint="At least 8 characters. It is never shown again: give it to your customer."
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        value={password}
        onChange={setPassword}
        error={issueFor(error, 'password')}
      />
      <TextField
        label="Email (optional)"
        type="email"
        autoComplete="off"
        value={email}
        onChange={setEmail}
        error={issueFor(error, 'email')}
      />
      <TextField
        label="License key"
        hint="Required if the application wants one to register. The term of an unused license starts."
        mono
        autoComplete="off"
        spellCheck={false}
        value={licenseKey}
        onChange={setLicenseKey}
        error={issueFor(error, 'licenseKey')}
      />
    </FormDialog>
  );
}
