import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { asApiError } from '../../api/api-error.ts';
import { useConfirmation } from '../../api/confirmation.ts';
import { sendChange } from '../../api/send-change.ts';
import { graphql } from '../../generated/gql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { useApplications, useDeveloper } from '../../shell/session.ts';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';

const SecurityDeleteAccount = graphql(`
  mutation SecurityDeleteAccount($input: DeleteAccountInput!) {
    deleteAccount(input: $input) {
      deletedDeveloperId
    }
  }
`);

const word = 'DELETE';

export function DeleteAccount({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const confirmed = useConfirmation();
  const { email } = useDeveloper();
  const applications = useApplications();
  const [confirm, setConfirm] = useState('');
  const [password, setPassword] = useState('');
  const [isMistyped, setIsMistyped] = useState(false);
  // Not `useChange`: afterwards there is nothing to read again, and nobody who may.
  const remove = useMutation({
    mutationFn: () => confirmed(() => sendChange(SecurityDeleteAccount, { input: { confirm, password } })),
    onSuccess: async () => {
      await navigate({ to: '/sign-in' });
      client.clear();
      tell('Your account was deleted.');
    },
  });
  const submit = () => {
    setIsMistyped(confirm !== word);
    if (confirm === word) remove.mutate();
  };
  const names = applications.map(({ name }) => name).join(', ');
  return (
    <FormDialog
      title="Delete your account?"
      action="Delete account"
      look="danger"
      busy={remove.isPending}
      error={remove.error === null ? null : besidesPassword(asApiError(remove.error))}
      onSubmit={submit}
      onClose={onClose}
    >
      <Notice>
        The account {email} is deleted at once and cannot be restored
        {names === '' ? '' : `, with its applications (${names})`}: all licenses, devices, users, policies,
        bans, API keys, webhooks and the log. Programs that you have sold are refused from then on.
      </Notice>
      <TextField
        label={`Type ${word}`}
        autoComplete="off"
        required
        value={confirm}
        onChange={setConfirm}
        error={isMistyped && confirm !== word ? `Type ${word} in capital letters.` : null}
      />
      <PasswordField value={password} onChange={setPassword} error={remove.error} />
    </FormDialog>
  );
}
