import { numberText } from './format.ts';
import styles from './progress.module.css';

interface ProgressProps {
  /** What is counted, for screen readers. */
  readonly label: string;
  readonly done: number;
  readonly total: number;
}

/** How far a long work is. */
export const Progress = ({ label, done, total }: ProgressProps) => (
  <div className={styles.progress}>
    <progress aria-label={label} max={Math.max(total, done, 1)} value={done} />
    <span>
      {numberText(done)} of {numberText(Math.max(total, done))}
    </span>
  </div>
);
