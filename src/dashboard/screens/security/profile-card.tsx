import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { useDeveloper } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { ButtonRow, Card, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import { SubmitForm } from './submit-form.tsx';

export const SecurityProfile = graphql(`
  mutation SecurityProfile($input: UpdateProfileInput!) {
    updateProfile(input: $input) {
      developer {
        id
        name
        email
      }
    }
  }
`);

/** The service wants the password for the name too, so the form has it in any case. */
export function ProfileCard() {
  const developer = useDeveloper();
  const [name, setName] = useState(developer.name);
  const [email, setEmail] = useState(developer.email);
  const [password, setPassword] = useState('');
  const change = useChange(SecurityProfile, {
    onDone: () => {
      tell('The profile was changed.');
      setPassword('');
    },
  });
  const isChanged = name !== developer.name || email !== developer.email;
  const submit = () => {
    const input = {
      password,
      ...(name !== developer.name && { name }),
      ...(email !== developer.email && { email }),
    };
    if (isChanged) change.mutate({ input });
  };
  const isAtField = issueFor(change.error, 'name') !== null || issueFor(change.error, 'email') !== null;
  const problem = isAtField ? null : besidesPassword(change.error);
  return (
    <Card title="Profile">
      <SubmitForm onSubmit={submit}>
        {problem !== null && <Problem error={problem} />}
        <TextField
          label="Name"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={setName}
          error={issueFor(change.error, 'name')}
        />
        <TextField
          label="Email"
          hint="You sign in with it."
          type="email"
          autoComplete="email"
          required
          value={email}
          onChange={setEmail}
          error={issueFor(change.error, 'email')}
        />
        <PasswordField value={password} onChange={setPassword} error={change.error} />
        <ButtonRow>
          <Button type="submit" disabled={!isChanged} busy={change.isPending}>
            Save profile
          </Button>
        </ButtonRow>
      </SubmitForm>
    </Card>
  );
}
