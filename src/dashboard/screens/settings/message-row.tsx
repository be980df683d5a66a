import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Mono } from '../../ui/text.tsx';
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

export const MessageRow = ({ message, text, onChange, error }: MessageRowProps) => (
  <div className={styles.message}>
    <TextField
      label={<Mono>{message.key}</Mono>}
      hint={message.when}
      placeholder={message.text}
      maxLength={500}
      value={text}
      onChange={(typed) => onChange(typed === '' ? null : typed)}
      error={error}
    />
    <Button small disabled={text === ''} aria-label={`Reset ${message.key}`} onClick={() => onChange(null)}>
      Reset
    </Button>
  </div>
);
