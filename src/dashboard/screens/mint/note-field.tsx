import { Button } from '../../ui/button.tsx';
import { TextAreaField } from '../../ui/field.tsx';
import { useVaultKey } from '../../vault/unlocked.ts';
import styles from './mint.module.css';

interface NoteFieldProps {
  readonly value: string;
  readonly isPrivate: boolean;
  readonly error: string | null;
  readonly onChange: (note: string) => void;
  readonly onUnlock: () => void;
}

/** The note of all new licenses. In private mode it is encrypted, which needs the open vault. */
export function NoteField({ value, isPrivate, error, onChange, onUnlock }: NoteFieldProps) {
  const vaultKey = useVaultKey();
  if (isPrivate && vaultKey === null) {
    return (
      <div className={styles.locked}>
        <span>Notes are encrypted in this browser. Unlock the vault to write one.</span>
        <Button small onClick={onUnlock}>
          Unlock the vault
        </Button>
      </div>
    );
  }
  return (
    <TextAreaField
      label="Note"
      hint={
        isPrivate
          ? 'Encrypted in this browser: the service cannot read it.'
          : 'For yourself, such as an order number.'
      }
      maxLength={1_000}
      rows={2}
      value={value}
      error={error}
      onChange={onChange}
    />
  );
}
