import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import styles from './mint.module.css';
import { newRow, rowProblem, type ValueRow } from './value-rows.ts';

interface ValueRowsFieldProps {
  readonly label: string;
  readonly hint: string;
  /** What one of them is called, such as "entitlement". */
  readonly one: string;
  readonly rows: readonly ValueRow[];
  readonly error: string | null;
  readonly onChange: (rows: readonly ValueRow[]) => void;
}

const typeOptions = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'True or false' },
] as const;

const truthOptions = [
  { value: 'true', label: 'True' },
  { value: 'false', label: 'False' },
] as const;

/** Named values, one in each line. */
export function ValueRowsField({ label, hint, one, rows, error, onChange }: ValueRowsFieldProps) {
  const set = (id: number, change: Partial<ValueRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...change } : row)));
  return (
    <fieldset className={styles.values}>
      <legend>{label}</legend>
      <div className={styles.hint}>{hint}</div>
      {rows.map((row) => (
        <div key={row.id} className={styles.valueRow}>
          <TextField
            label="Name"
            mono
            value={row.name}
            error={rowProblem(row, rows)}
            onChange={(name) => set(row.id, { name })}
          />
          <SelectField
            label="Kind"
            value={row.type}
            options={typeOptions}
            onChange={(type) => set(row.id, { type, ...(type === 'boolean' && { value: 'true' }) })}
          />
          {row.type === 'boolean' ? (
            <SelectField
              label="Value"
              value={row.value === 'false' ? 'false' : 'true'}
              options={truthOptions}
              onChange={(value) => set(row.id, { value })}
            />
          ) : (
            <TextField label="Value" value={row.value} onChange={(value) => set(row.id, { value })} />
          )}
          <Button
            look="quiet"
            className={styles.removeValue}
            aria-label={`Remove ${one} ${row.name}`}
            onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
          >
            ×
          </Button>
        </div>
      ))}
      {error && (
        <div className={styles.error} role="alert">
          {error}
        </div>
      )}
      <div>
        <Button small onClick={() => onChange([...rows, newRow()])}>
          Add {one}
        </Button>
      </div>
    </fieldset>
  );
}
