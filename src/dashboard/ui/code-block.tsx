import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  readonly code: string;
  /** What it is, for screen readers. */
  readonly label: string;
}

export const CodeBlock = ({ code, label }: CodeBlockProps) => (
  <div className={styles.block}>
    {/* A region that scrolls must be reachable by keyboard. */}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
    <section className={styles.scroll} tabIndex={0} aria-label={label}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
    <span className={styles.copy}>
      <CopyButton text={code} />
    </span>
  </div>
);
