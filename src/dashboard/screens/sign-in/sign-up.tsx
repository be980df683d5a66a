import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/page.tsx';
import { useEnter } from './enter.ts';
import { SignInPage } from './sign-in-page.tsx';

const SignUpDeveloper = graphql(`
  mutation SignUp($input: RegisterInput!) {
    register(input: $input) {
      developer {
        id
      }
    }
  }
`);

export function SignUp() {
  const { next } = useSearch({ from: '/sign-up' });
  const enter = useEnter(next);
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signUp = useMutation({
    mutationFn: () => request(SignUpDeveloper, { input: { name, email, password } }),
    onSuccess: enter,
  });
  const { error } = signUp;
  return (
    <SignInPage
      title="Create an account"
      onSubmit={() => signUp.mutate()}
      other={
        <>
          Already registered?{' '}
          <Link to="/sign-in" search={{ next }}>
            Sign in
          </Link>
        </>
      }
    >
      <TextField
        label="Name"
        autoComplete="name"
        required
        value={name}
        onChange={setName}
        error={issueFor(error, 'name')}
      />
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={setEmail}
        error={issueFor(error, 'email')}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 12 characters. A few words are easier to remember than signs."
        required
        minLength={12}
        value={password}
        onChange={setPassword}
        error={issueFor(error, 'password')}
      />
      {error && <Problem error={error} />}
      <Button look="primary" type="submit" busy={signUp.isPending}>
        Create account
      </Button>
    </SignInPage>
  );
}
