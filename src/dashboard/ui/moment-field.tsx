import type { ReactNode } from 'react';
import { TextField } from './field.tsx';

interface MomentFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** ISO 8601; null while it is empty. */
  readonly value: string | null;
  readonly onChange: (iso: string | null) => void;
  readonly required?: boolean;
}

/** The time in the reader's time zone, as the browser's field wants it: `2026-11-23T17:30`. */
function localText(iso: string): string {
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A date and a time of day, in the reader's time zone. */
export const MomentField = ({ value, onChange, ...rest }: MomentFieldProps) => (
  <TextField
    {...rest}
    type="datetime-local"
    max="9999-12-31T23:59"
    value={value === null ? '' : localText(value)}
    onChange={(text) => onChange(text === '' ? null : new Date(text).toISOString())}
  />
);
