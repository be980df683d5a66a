import { type ComponentProps, type ReactNode, useId } from 'react';
import { classNames } from './class-names.ts';
import styles from './field.module.css';

interface FieldTexts {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value; null if nothing. */
  readonly error?: string | null;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

interface FieldProps extends FieldTexts {
  /** The control, with the attributes that connect it to its label, hint and error. */
  readonly children: (attributes: Described) => ReactNode;
}

/** A label, a control, and what there is to say about it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint !== undefined && (
        <div className={styles.hint} id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div className={styles.error} id={`${id}-error`} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

type TextFieldProps = FieldTexts &
  Omit<ComponentProps<'input'>, 'onChange'> & {
    readonly mono?: boolean;
    readonly onChange?: (value: string) => void;
  };

export function TextField({ label, hint, error, mono = false, onChange, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <input
          {...rest}
          {...attributes}
          className={classNames(styles.input, mono && styles.mono)}
          onChange={(event) => onChange?.(event.target.value)}
        />
      )}
    </Field>
  );
}

type TextAreaFieldProps = FieldTexts &
  Omit<ComponentProps<'textarea'>, 'onChange'> & {
    readonly mono?: boolean;
    readonly onChange?: (value: string) => void;
  };

export function TextAreaField({ label, hint, error, mono = false, onChange, ...rest }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <textarea
          {...rest}
          {...attributes}
          className={classNames(styles.input, mono && styles.mono)}
          onChange={(event) => onChange?.(event.target.value)}
        />
      )}
    </Field>
  );
}

interface SelectFieldProps<Value extends string> extends FieldTexts {
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
  readonly disabled?: boolean;
}

export function SelectField<Value extends string>({
  label,
  hint,
  error,
  value,
  options,
  onChange,
  disabled,
}: SelectFieldProps<Value>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(attributes) => (
        <select
          {...attributes}
          className={styles.input}
          value={value}
          disabled={disabled}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.target.value);
            if (chosen) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckFieldProps extends FieldTexts {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

export function CheckField({ label, hint, error, checked, onChange, disabled }: CheckFieldProps) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint !== undefined && (
        <div className={styles.hint} id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div className={styles.error} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}
