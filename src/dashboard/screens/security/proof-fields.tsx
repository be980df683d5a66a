import { asApiError } from '../../api/api-error.ts';
import { codeInput } from '../../shell/code-input.ts';
import { besidesPassword, PasswordField } from '../../shell/password-field.tsx';
import { TextField } from '../../ui/field.tsx';

/** The password and a code, which changes of two-step sign-in need. */
export interface Proof {
  readonly password: string;
  readonly code: string;
}

export const noProof: Proof = { password: '', code: '' };

export const proofInput = ({ password, code }: Proof) => ({ password, ...codeInput(code) });

const isAboutCode = (error: unknown): boolean =>
  error !== null && error !== undefined && ['TOTP_REQUIRED', 'TOTP_INVALID'].includes(asApiError(error).code);

/** The error to show above the form: null if a field shows it. */
export const besidesProof = (error: unknown): unknown => (isAboutCode(error) ? null : besidesPassword(error));

interface ProofFieldsProps {
  readonly value: Proof;
  readonly onChange: (proof: Proof) => void;
  readonly error: unknown;
}

export const ProofFields = ({ value, onChange, error }: ProofFieldsProps) => (
  <>
    <PasswordField
      value={value.password}
      onChange={(password) => onChange({ ...value, password })}
      error={error}
    />
    <TextField
      label="Code"
      hint="Six digits from your authenticator app, or a recovery code."
      autoComplete="one-time-code"
      required
      value={value.code}
      onChange={(code) => onChange({ ...value, code })}
      error={isAboutCode(error) ? asApiError(error).message : null}
    />
  </>
);
