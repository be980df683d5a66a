import { type ReactNode, useState } from 'react';
import { type DurationUnit, durationOf, durationUnits, secondsOf, unitText } from '../ui/duration.ts';
import styles from '../ui/field.module.css';
import { Field } from '../ui/field.tsx';

interface OptionalDurationFieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** In seconds; null for none. */
  readonly value: number | null;
  readonly onChange: (seconds: number | null) => void;
  /** What none means, such as "Unlimited". */
  readonly none: string;
  /** In seconds: what is first offered instead of none. */
  readonly suggested: number;
}

/** A length of time, or none: the choice of none is among the units. */
export function OptionalDurationField(props: OptionalDurationFieldProps) {
  const { label, hint, error, value, onChange, none, suggested } = props;
  const [unit, setUnit] = useState<DurationUnit>(() => durationOf(value ?? suggested).unit);
  const perUnit = secondsOf({ amount: 1, unit });
  // A value from outside, such as a policy's, may not be a whole number of the unit that is chosen.
  const shown =
    (value ?? 0) % perUnit === 0 ? { amount: (value ?? 0) / perUnit, unit } : durationOf(value ?? 0);
  const set = (amount: number, next: DurationUnit) => {
    setUnit(next);
    onChange(
      secondsOf({ amount: Number.isFinite(amount) ? Math.max(0, Math.trunc(amount)) : 0, unit: next }),
    );
  };
  const choose = (chosen: string) => {
    if (chosen === 'none') return onChange(null);
    const known = durationUnits.find((candidate) => candidate.unit === chosen);
    if (known === undefined) return;
    const first = durationOf(suggested);
    set(value === null ? (known.unit === first.unit ? first.amount : 1) : shown.amount, known.unit);
  };
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <div className={styles.row}>
          {value !== null && (
            <input
              {...attributes}
              className={styles.input}
              type="number"
              min={1}
              step={1}
              required
              inputMode="numeric"
              value={shown.amount === 0 ? '' : String(shown.amount)}
              onChange={(event) => set(event.target.valueAsNumber, shown.unit)}
            />
          )}
          <select
            {...(value === null && attributes)}
            aria-label={value === null ? undefined : 'Unit'}
            className={styles.input}
            value={value === null ? 'none' : shown.unit}
            onChange={(event) => choose(event.target.value)}
          >
            <option value="none">{none}</option>
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
