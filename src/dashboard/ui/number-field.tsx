import type { ReactNode } from 'react';
import { TextField } from './field.tsx';

interface NumberFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** A whole number; null while the field is empty. */
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
  readonly min?: number;
  readonly max?: number;
  readonly disabled?: boolean;
}

/** A whole number that is required. The browser says what is wrong with it before the form is sent. */
export const NumberField = ({ value, onChange, ...rest }: NumberFieldProps) => (
  <TextField
    {...rest}
    type="number"
    step={1}
    required
    inputMode="numeric"
    value={value === null ? '' : String(value)}
    onChange={(typed) => onChange(typed.trim() === '' ? null : Number(typed))}
  />
);
