import { Hidden } from '../../ui/text.tsx';
import styles from './first-steps.module.css';

const steps = [
  { name: 'Create an application', text: 'It gets its own signing key.' },
  { name: 'Mint a key', text: 'This is what a customer gets.' },
  { name: 'Validate it', text: 'Paste a snippet into a program and run it.' },
] as const;

/** What a new account does first, and how far it has come. */
export const FirstSteps = ({ current }: { readonly current: 1 | 2 | 3 }) => (
  <ol className={styles.steps} aria-label="First steps">
    {steps.map(({ name, text }, index) => {
      const number = index + 1;
      const isDone = number < current;
      return (
        <li key={name} className={styles.step} aria-current={number === current ? 'step' : undefined}>
          <span className={styles.number} aria-hidden>
            {isDone ? '✓' : number}
          </span>
          <div>
            <div className={styles.name}>
              {name}
              {isDone && <Hidden> (done)</Hidden>}
            </div>
            <div className={styles.text}>{text}</div>
          </div>
        </li>
      );
    })}
  </ol>
);
