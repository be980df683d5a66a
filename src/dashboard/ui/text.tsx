import type { ReactNode } from 'react';
import styles from './text.module.css';

interface Children {
  readonly children: ReactNode;
}

/** Keys, ids, addresses and code. */
export const Mono = ({ children }: Children) => <span className={styles.mono}>{children}</span>;

/** What is less important than its neighbours. */
export const Dim = ({ children }: Children) => <span className={styles.dim}>{children}</span>;

export const Chip = ({ children }: Children) => <span className={styles.chip}>{children}</span>;

/** Only for screen readers. */
export const Hidden = ({ children }: Children) => <span className={styles.hidden}>{children}</span>;
