import { useId } from 'react';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import fieldStyles from '../ui/field.module.css';
import styles from './value-editor.module.css';
import type { ValueKind, ValueRow } from './value-rows.ts';

const kinds = [
  { kind: 'boolean', label: 'True/false' },
  { kind: 'number', label: 'Number' },
  { kind: 'text', label: 'Text' },
] as const satisfies readonly { kind: ValueKind; label: string }[];

/** What a value becomes when its kind changes; a number that is a text stays the same. */
function valueAs(kind: ValueKind, value: string): string {
  if (kind === 'boolean') return value === 'false' ? 'false' : 'true';
  if (kind === 'number') return value.trim() !== '' && Number.isFinite(Number(value)) ? value : '';
  return value;
}

interface ValueRowFieldsProps {
  readonly row: ValueRow;
  readonly nameLabel: string;
  readonly error: string | null;
  readonly onChange: (part: Partial<ValueRow>) => void;
  readonly onRemove: () => void;
}

export function ValueRowFields({ row, nameLabel, error, onChange, onRemove }: ValueRowFieldsProps) {
  const id = useId();
  const named = row.name === '' ? 'the new row' : row.name;
  const described = {
    'aria-invalid': error === null ? undefined : true,
    'aria-describedby': error === null ? undefined : id,
  };
  return (
    <div className={styles.row}>
      <input
        {...described}
        data-name
        className={classNames(fieldStyles.input, styles.name)}
        aria-label={nameLabel}
        placeholder={nameLabel}
        maxLength={64}
        spellCheck={false}
        autoCapitalize="none"
        value={row.name}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <select
        className={fieldStyles.input}
        aria-label={`Kind of ${named}`}
        value={row.kind}
        onChange={({ target }) => {
          const chosen = kinds.find(({ kind }) => kind === target.value);
          if (chosen) onChange({ kind: chosen.kind, value: valueAs(chosen.kind, row.value) });
        }}
      >
        {kinds.map(({ kind, label }) => (
          <option key={kind} value={kind}>
            {label}
          </option>
        ))}
      </select>
      {row.kind === 'boolean' ? (
        <select
          className={fieldStyles.input}
          aria-label={`Value of ${named}`}
          value={row.value}
          onChange={({ target }) => onChange({ value: target.value })}
        >
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <input
          {...described}
          className={fieldStyles.input}
          aria-label={`Value of ${named}`}
          inputMode={row.kind === 'number' ? 'numeric' : undefined}
          value={row.value}
          onChange={({ target }) => onChange({ value: target.value })}
        />
      )}
      <Button small look="quiet" aria-label={`Remove ${named}`} onClick={onRemove}>
        Remove
      </Button>
      {error !== null && (
        <div className={styles.error} id={id} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}
