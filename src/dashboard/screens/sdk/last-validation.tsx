import { Link } from '@tanstack/react-router';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { CodeBadge } from '../../ui/status.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import styles from './sdk.module.css';
import type { Validation, ValidationState } from './use-last-validation.ts';

interface LastValidationProps extends ValidationState {
  readonly applicationId: string;
  readonly hasKeys: boolean;
}

/** Waits for the program's first validation, and shows the newest one. */
export function LastValidation({ applicationId, hasKeys, last, isNew, stream }: LastValidationProps) {
  return (
    <Card title={last === null || isNew ? 'Your program' : 'Last validation'}>
      <div className={styles.waiting}>
        <div className={styles.sentence} role="status">
          {last === null ? (
            <>
              <span className={styles.dot} data-state={stream} aria-hidden />
              {stream === 'interrupted'
                ? 'The connection is lost. Reconnecting…'
                : 'Waiting for the first validation…'}
            </>
          ) : (
            <Sentence {...last} />
          )}
        </div>
        {last === null ? (
          <Advice applicationId={applicationId} hasKeys={hasKeys} />
        ) : (
          <>
            <Dim>
              <Ago at={last.createdAt} />
            </Dim>
            <div className={styles.links}>
              {last.license && (
                <Link
                  to="/applications/$applicationId/licenses/$licenseId"
                  params={{ applicationId, licenseId: last.license.id }}
                >
                  Open the license
                </Link>
              )}
              <Link to="/applications/$applicationId/log" params={{ applicationId }}>
                Open the log
              </Link>
            </div>
          </>
        )}
      </div>
    </Card>
  );
}

const Sentence = ({ license, code }: Validation) => (
  <>
    <span>
      {license ? (
        <>
          Your program validated key <Mono>{license.keyPrefix}…</Mono>:
        </>
      ) : (
        'Your program asked for a key that does not exist:'
      )}
    </span>
    {code && <CodeBadge code={code} />}
  </>
);

function Advice({ applicationId, hasKeys }: Pick<LastValidationProps, 'applicationId' | 'hasKeys'>) {
  if (hasKeys) return <Dim>Run the program with a license key. The answer appears here within a second.</Dim>;
  return (
    <>
      <Dim>There is no license yet. Mint a key, copy it, then come back and run the program with it.</Dim>
      <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }}>
        Mint a key
      </ButtonLink>
    </>
  );
}
