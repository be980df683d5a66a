import { CodeBlock } from '../../ui/code-block.tsx';
import { Mono } from '../../ui/text.tsx';
import type { Program } from './programs.ts';
import styles from './sdk.module.css';

/** How to try a program: what to install, the files to create, and how to run it. */
export const ShownProgram = ({ install, files, run, note }: Program) => (
  <ol className={styles.program}>
    <li>
      <h3>Install the SDK in an empty folder</h3>
      <CodeBlock code={install} label="Commands that install the SDK" />
    </li>
    {files.map(({ name, text }) => (
      <li key={name}>
        <h3>
          Create <Mono>{name}</Mono>
        </h3>
        <CodeBlock code={text} label={name} />
      </li>
    ))}
    <li>
      <h3>Run it with a license key</h3>
      <CodeBlock code={run} label="Command that runs the program" />
      <p className={styles.note}>{note}</p>
    </li>
  </ol>
);
