import { useId, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import fieldStyles from '../../ui/field.module.css';
import type { Message } from './messages.ts';
import styles from './settings.module.css';

interface MessageRowProps {
  readonly message: Message;
  /** The vendor's own; empty for the default. */
  readonly text: string;
  /** Null: the default again. */
  readonly onChange: (text: string | null) => void;
  readonly error: string | null;
}

/** A text in one line, as there are many: its name at the left, the field at the right. */
export function MessageRow({ message, text, onChange, error }: MessageRowProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  return (
    <div className={styles.message}>
      <div>
        <label htmlFor={id} className={styles.messageKey}>
          {message.key}
        </label>
        <div id={`${id}-when`} className={styles.when}>
          {message.when}
        </div>
      </div>
      <div className={styles.messageText}>
        <input
          ref={field}
          id={id}
          className={fieldStyles.input}
          aria-describedby={`${id}-when ${id}-error`}
          aria-invalid={error !== null || undefined}
          placeholder={message.text}
          maxLength={500}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
        />
        <Button
          small
          className={styles.reset}
          disabled={text === ''}
          aria-label={`Reset ${message.key}`}
          onClick={() => {
            field.current?.focus();
            onChange(null);
          }}
        >
          Reset
        </Button>
        <div id={`${id}-error`} role="alert" className={fieldStyles.error}>
          {error}
        </div>
      </div>
    </div>
  );
}
