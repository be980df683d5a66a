import { useMutation } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { asApiError } from '../../api/api-error.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { codeInput } from '../../shell/code-input.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/page.tsx';
import { useEnter } from './enter.ts';
import { SignInPage } from './sign-in-page.tsx';

const SignInDeveloper = graphql(`
  mutation SignIn($input: LoginInput!) {
    login(input: $input) {
      developer {
        id
      }
    }
  }
`);

export function SignIn() {
  const { next } = useSearch({ from: '/sign-in' });
  const enter = useEnter(next);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const signIn = useMutation({
    mutationFn: () => request(SignInDeveloper, { input: { email, password, ...codeInput(code) } }),
    onSuccess: enter,
  });
  const failed = signIn.error && asApiError(signIn.error).code;
  const asksForCode = failed === 'TOTP_REQUIRED' || failed === 'TOTP_INVALID' || code !== '';
  return (
    <SignInPage
      title="Sign in"
      onSubmit={() => signIn.mutate()}
      other={
        <>
          No account yet?{' '}
          <Link to="/sign-up" search={{ next }}>
            Sign up
          </Link>
        </>
      }
    >
      <TextField
        label="Email"
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={setEmail}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
      />
      {asksForCode && (
        <TextField
          label="Code"
          hint="Six digits from your authenticator app, or a recovery code."
          autoComplete="one-time-code"
          autoFocus
          value={code}
          onChange={setCode}
        />
      )}
      {signIn.error && failed !== 'TOTP_REQUIRED' && <Problem error={signIn.error} />}
      <Button look="primary" type="submit" busy={signIn.isPending}>
        Sign in
      </Button>
    </SignInPage>
  );
}
