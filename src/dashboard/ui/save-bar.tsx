import { Button } from './button.tsx';
import styles from './save-bar.module.css';

interface SaveBarProps {
  /** Such as "3 unsaved changes". */
  readonly text: string;
  readonly busy: boolean;
  readonly onDiscard: () => void;
}

/** Stays in reach at the bottom of a form with unsaved changes; "Save changes" submits the form. */
export const SaveBar = ({ text, busy, onDiscard }: SaveBarProps) => (
  <div className={styles.bar}>
    <span className={styles.text} role="status">
      {text}
    </span>
    <Button onClick={onDiscard}>Discard changes</Button>
    <Button look="primary" type="submit" busy={busy}>
      Save changes
    </Button>
  </div>
);

/** Such as "1 unsaved change". */
export const unsavedText = (count: number): string =>
  count === 1 ? '1 unsaved change' : `${count} unsaved changes`;
