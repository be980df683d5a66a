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
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{code}</code>
    </pre>
    <span className={styles.copy}>
      <CopyButton text={code} />
    </span>
  </div>
);
