import { serviceUrl } from '../../api/paths.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Mono } from '../../ui/text.tsx';
import { type BuiltIn, packageUrl } from './programs.ts';
import styles from './sdk.module.css';

/** What a program in a language without an SDK needs. */
export function OtherLanguages({ baseUrl, appId, version, publicKeyB64, protocol }: BuiltIn) {
  const url = packageUrl(baseUrl);
  return (
    <ol className={styles.program}>
      <li>
        <h3>Read the protocol</h3>
        <p className={styles.note}>
          The SDK's package has a document that specifies the protocol completely:{' '}
          <Mono>protocol/v2/SPEC.md</Mono>. <a href={url}>Download the package</a>, or read it at a terminal.
          The <a href={new URL('docs', serviceUrl).href}>API reference</a> has the routes.
        </p>
        <CodeBlock
          code={`curl -s ${url} | tar -xzO package/protocol/v2/SPEC.md | less`}
          label="Command that shows the protocol document"
        />
      </li>
      <li>
        <h3>Build these values into the program</h3>
        <CodeBlock
          code={JSON.stringify({ baseUrl, appId, version, publicKeyB64, protocol }, null, 2)}
          label="Values to build in"
        />
        <p className={styles.note}>
          The public key verifies every answer. A program that fetches it at run time trusts any server that
          answers.
        </p>
      </li>
      <li>
        <h3>Unlock only on a signed verdict</h3>
        <p className={styles.note}>
          An answer counts only if its signature is right and it answers your request. Treat codes that the
          program does not know as refusals.
        </p>
      </li>
    </ol>
  );
}
