import type { ReactNode } from 'react';
import { useState } from 'react';
import { type DurationUnit, durationOf, durationUnits, secondsOf, unitText } from './duration.ts';
import styles from './field.module.css';
import { Field } from './field.tsx';

interface DurationFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** In seconds. */
  readonly value: number;
  readonly onChange: (seconds: number) => void;
  readonly disabled?: boolean;
}

/** A length of time: a whole number and its unit. */
export function DurationField({ label, hint, error, value, onChange, disabled }: DurationFieldProps) {
  const [unit, setUnit] = useState<DurationUnit>(() => durationOf(value).unit);
  const perUnit = secondsOf({ amount: 1, unit });
  // A value from outside, such as a policy's, may not be a whole number of the unit that is chosen.
  const shown = value % perUnit === 0 ? { amount: value / perUnit, unit } : durationOf(value);
  const set = (amount: number, next: DurationUnit) => {
    setUnit(next);
    onChange(
      secondsOf({ amount: Number.isFinite(amount) ? Math.max(0, Math.trunc(amount)) : 0, unit: next }),
    );
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <div className={styles.row}>
          <input
            {...attributes}
            className={styles.input}
            type="number"
            min={0}
            step={1}
            inputMode="numeric"
            disabled={disabled}
            value={String(shown.amount)}
            onChange={(event) => set(event.target.valueAsNumber, shown.unit)}
          />
          <select
            aria-label="Unit"
            className={styles.input}
            disabled={disabled}
            value={shown.unit}
            onChange={(event) => {
              const chosen = durationUnits.find((known) => known.unit === event.target.value);
              if (chosen) set(shown.amount, chosen.unit);
            }}
          >
            {durationUnits.map((known) => (
              <option key={known.unit} value={known.unit}>
                {unitText(known.unit, shown.amount)}
              </option>
            ))}
          </select>
        </div>
      )}
    </Field>
  );
}
