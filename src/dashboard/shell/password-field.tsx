import { asApiError } from '../api/api-error.ts';
import { TextField } from '../ui/field.tsx';
import { useDeveloper } from './session.ts';

interface PasswordFieldProps {
  readonly label?: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (password: string) => void;
  /** Why the service refused the form that the field is in. */
  readonly error: unknown;
}

const isAboutPassword = (error: unknown): boolean =>
  error !== null && error !== undefined && asApiError(error).code === 'INVALID_CREDENTIALS';

/** The error to show above a form with this field: null if the field shows it. */
export const besidesPassword = (error: unknown): unknown => (isAboutPassword(error) ? null : error);

/** The password of the account, for acts that need it besides the session. */
export function PasswordField({ label = 'Password', hint, value, onChange, error }: PasswordFieldProps) {
  const { email } = useDeveloper();
  return (
    <>
      {/* Password managers want to know whose password it is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <TextField
        label={label}
        hint={hint}
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={value}
        onChange={onChange}
        error={isAboutPassword(error) ? 'This is not the password of your account.' : null}
      />
    </>
  );
}
