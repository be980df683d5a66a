import { type ReactNode, useId } from 'react';
import styles from './choice-field.module.css';

interface ChoiceFieldProps<Value extends string> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  readonly value: Value;
  readonly options: readonly {
    readonly value: Value;
    readonly label: ReactNode;
    readonly hint?: ReactNode;
  }[];
  readonly onChange: (value: Value) => void;
}

/** A few choices of which each needs an explanation; `SelectField` is for those that need none. */
export function ChoiceField<Value extends string>(props: ChoiceFieldProps<Value>) {
  const { label, hint, error, value, options, onChange } = props;
  const id = useId();
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.legend}>{label}</legend>
      {options.map((option) => (
        <div key={option.value} className={styles.choice}>
          <input
            type="radio"
            id={`${id}-${option.value}`}
            name={id}
            checked={option.value === value}
            aria-describedby={option.hint === undefined ? undefined : `${id}-${option.value}-hint`}
            onChange={() => onChange(option.value)}
          />
          <label htmlFor={`${id}-${option.value}`}>{option.label}</label>
          {option.hint !== undefined && (
            <div className={styles.hint} id={`${id}-${option.value}-hint`}>
              {option.hint}
            </div>
          )}
        </div>
      ))}
      {hint !== undefined && <div className={styles.note}>{hint}</div>}
      {error && (
        <div className={styles.error} role="alert">
          {error}
        </div>
      )}
    </fieldset>
  );
}
