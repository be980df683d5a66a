import { type FormEvent, useState } from 'react';
import { type ApiError, asApiError } from '../api/api-error.ts';
import { request } from '../api/request.ts';
import { graphql } from '../generated/gql.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { FormStack } from '../ui/page.tsx';
import { codeInput } from './code-input.ts';

const ConfirmSession = graphql(`
  mutation ConfirmSession($input: ConfirmSessionInput!) {
    confirmSession(input: $input) {
      confirmedUntil
    }
  }
`);

/** Codes after which the form asks for a code of the authenticator app. */
const codeErrors: ReadonlySet<string> = new Set(['TOTP_REQUIRED', 'TOTP_INVALID']);

export function ConfirmationDialog({
  onConfirmed,
  onClose,
}: {
  readonly onConfirmed: () => void;
  readonly onClose: () => void;
}) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [asksForCode, setAsksForCode] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    try {
      await request(ConfirmSession, { input: { password, ...codeInput(code) } });
      onConfirmed();
    } catch (thrown) {
      const failed = asApiError(thrown);
      if (codeErrors.has(failed.code)) setAsksForCode(true);
      setError(failed.code === 'TOTP_REQUIRED' ? null : failed);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Dialog
      title="Confirm that it is you"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="confirmation" busy={isBusy}>
            Confirm
          </Button>
        </>
      }
    >
      <form id="confirmation" onSubmit={submit}>
        <FormStack>
          <p>
            This change can do lasting damage, so it needs your password. The confirmation lasts a few
            minutes.
          </p>
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={setPassword}
            error={error && !codeErrors.has(error.code) ? error.message : null}
          />
          {asksForCode && (
            <TextField
              label="Code"
              hint="Six digits from your authenticator app, or a recovery code."
              autoComplete="one-time-code"
              value={code}
              onChange={setCode}
              error={error && codeErrors.has(error.code) ? error.message : null}
            />
          )}
        </FormStack>
      </form>
    </Dialog>
  );
}
