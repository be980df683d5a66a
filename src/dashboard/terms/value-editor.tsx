import { useRef } from 'react';
import { issueFor } from '../api/issue-for.ts';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import styles from './value-editor.module.css';
import { ValueRowFields } from './value-row-fields.tsx';
import { newRow, rowIssue, type ValueRow } from './value-rows.ts';

export interface ValueEditorProps {
  readonly label: string;
  readonly hint?: React.ReactNode;
  /** What names a value: "Code" or "Name". */
  readonly nameLabel: string;
  /** On the button, such as "Add entitlement". */
  readonly addLabel: string;
  readonly rows: readonly ValueRow[];
  readonly onChange: (rows: readonly ValueRow[]) => void;
  /** Of the last attempt to save: its issues below `path` are shown at their rows. */
  readonly error?: unknown;
  readonly path: readonly string[];
  /** Whether an attempt to save was made, so that what is incomplete is said. */
  readonly showsIssues?: boolean;
}

/** Edits names with values that are true or false, whole numbers, or texts. */
export function ValueEditor(props: ValueEditorProps) {
  const { label, hint, nameLabel, addLabel, rows, onChange, error, path, showsIssues = false } = props;
  const editor = useRef<HTMLFieldSetElement>(null);
  const change = (id: string, part: Partial<ValueRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    onChange([...rows, newRow()]);
    // The new row is rendered by then.
    requestAnimationFrame(() => {
      const names = editor.current?.querySelectorAll<HTMLInputElement>('input[data-name]');
      names?.[names.length - 1]?.focus();
    });
  };
  const remove = (id: string) => {
    onChange(rows.filter((row) => row.id !== id));
    requestAnimationFrame(() => editor.current?.querySelector<HTMLElement>('button[data-add]')?.focus());
  };
  const rowError = (row: ValueRow) =>
    (row.name === '' ? null : issueFor(error, ...path, row.name.trim())) ??
    (showsIssues ? rowIssue(row, rows) : null);
  const shared = rows.some((row) => issueFor(error, ...path, row.name.trim()) !== null)
    ? null
    : issueFor(error, ...path);
  return (
    <fieldset ref={editor} className={styles.editor}>
      <legend className={styles.legend}>{label}</legend>
      {hint !== undefined && <div className={styles.hint}>{hint}</div>}
      <div className={classNames(rows.length > 0 && styles.rows)}>
        {rows.map((row) => (
          <ValueRowFields
            key={row.id}
            row={row}
            nameLabel={nameLabel}
            error={rowError(row)}
            onChange={(part) => change(row.id, part)}
            onRemove={() => remove(row.id)}
          />
        ))}
      </div>
      {shared !== null && (
        <div className={styles.error} role="alert">
          {shared}
        </div>
      )}
      <Button small data-add onClick={add}>
        {addLabel}
      </Button>
    </fieldset>
  );
}
