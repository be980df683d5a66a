import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { QrCode } from './qr-code.tsx';
import styles from './security.module.css';

const SecurityBeginTotp = graphql(`
  mutation SecurityBeginTotp($input: BeginTotpInput!) {
    beginTotp(input: $input) {
      secret
      uri
    }
  }
`);

const SecurityConfirmTotp = graphql(`
  mutation SecurityConfirmTotp($input: ConfirmTotpInput!) {
    confirmTotp(input: $input) {
      recoveryCodes
    }
  }
`);

interface SetUpTotpProps {
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

/** The password first, then the secret; nothing changes until a code shows that the app has it. */
export function SetUpTotp({ onCodes, onClose }: SetUpTotpProps) {
  const [password, setPassword] = useState('');
  const begin = useChange(SecurityBeginTotp);
  const begun = begin.data?.beginTotp;
  if (begun) return <ConfirmTotp {...begun} onCodes={onCodes} onClose={onClose} />;
  return (
    <FormDialog
      title="Turn on two-step sign-in"
      action="Continue"
      busy={begin.isPending}
      error={besidesPassword(begin.error)}
      onSubmit={() => begin.mutate({ input: { password } })}
      onClose={onClose}
    >
      <p>
        You need an authenticator app, such as Aegis, Google Authenticator, or a password manager that has
        one.
      </p>
      <PasswordField value={password} onChange={setPassword} error={begin.error} />
    </FormDialog>
  );
}

interface ConfirmTotpProps extends SetUpTotpProps {
  readonly secret: string;
  readonly uri: string;
}

function ConfirmTotp({ secret, uri, onCodes, onClose }: ConfirmTotpProps) {
  const [code, setCode] = useState('');
  const confirm = useChange(SecurityConfirmTotp, {
    onDone: ({ confirmTotp }) => confirmTotp && onCodes(confirmTotp.recoveryCodes),
  });
  const { error } = confirm;
  const codeProblem = error?.code === 'TOTP_INVALID' ? error.message : issueFor(error, 'totpCode');
  return (
    <FormDialog
      title="Scan the code with your app"
      action="Turn on"
      busy={confirm.isPending}
      error={codeProblem === null ? error : null}
      onSubmit={() => confirm.mutate({ input: { totpCode: code.replaceAll(' ', '') } })}
      onClose={onClose}
    >
      <div className={styles.scan}>
        <QrCode text={uri} label="QR code for an authenticator app. The secret is beside it as text." />
        <div className={styles.scanText}>
          <p>Or type this secret into the app:</p>
          <code className={styles.secret}>{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
          <div>
            <CopyButton text={secret} label="Copy secret" />
          </div>
        </div>
      </div>
      <TextField
        label="Code"
        hint="The six digits that the app shows now. Nothing changes until they are right."
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        value={code}
        onChange={setCode}
        error={codeProblem}
      />
    </FormDialog>
  );
}
