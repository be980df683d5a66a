import type { ReactNode } from 'react';
import { TextField } from './field.tsx';

interface MomentFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** ISO 8601; null while it is empty, which a text that is no time is as well. */
  readonly value: string | null;
  readonly onChange: (iso: string | null) => void;
  readonly required?: boolean;
}

/**
 * The time in the reader's time zone, as the browser's field wants it: `2026-11-23T17:30`. Not by the zone's offset:
 * while a year is typed, it is one of antiquity, when offsets had seconds.
 */
function localText(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return '';
  const two = (number: number) => String(number).padStart(2, '0');
  const day = [String(date.getFullYear()).padStart(4, '0'), two(date.getMonth() + 1), two(date.getDate())];
  return `${day.join('-')}T${two(date.getHours())}:${two(date.getMinutes())}`;
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
