import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LogEntryFragment } from '../generated/graphql.ts';
import { CodeBadge } from '../ui/status.tsx';
import { Dim, Mono } from '../ui/text.tsx';
import { Clock, Day } from '../ui/time.tsx';
import { actorText } from './entry-actor.ts';
import styles from './entry-row.module.css';
import { entryText } from './entry-text.ts';

interface EntryRowProps {
  readonly entry: LogEntryFragment;
  /** Left out where all entries are about the same license or user. */
  readonly without?: 'license' | 'user';
  /** Such as a button that explains a refusal. */
  readonly action?: ReactNode;
}

/** An entry of a log: when, what, about whom, and by whom. It stands inside a list item or a cell. */
export function EntryRow({ entry, without, action }: EntryRowProps) {
  const { applicationId, createdAt, code, hwid, ip, country, license, user } = entry;
  return (
    <div className={styles.row}>
      <span className={styles.time}>
        <Day at={createdAt} /> <Clock at={createdAt} />
      </span>
      <span className={styles.what}>
        <span>{entryText(entry)}</span>
        {license && applicationId && without !== 'license' && (
          <Link
            to="/applications/$applicationId/licenses/$licenseId"
            params={{ applicationId, licenseId: license.id }}
          >
            <Mono>{license.keyPrefix}</Mono>
          </Link>
        )}
        {user && applicationId && without !== 'user' && (
          <Link to="/applications/$applicationId/users/$userId" params={{ applicationId, userId: user.id }}>
            {user.username}
          </Link>
        )}
        {hwid && (
          <span className={styles.device} title={hwid}>
            <Mono>{hwid}</Mono>
          </span>
        )}
        {code && <CodeBadge code={code} />}
        {action}
      </span>
      <span className={styles.who}>
        {actorText(entry)}{' '}
        {ip && (
          <Dim>
            <Mono>{ip}</Mono> {country}
          </Dim>
        )}
      </span>
    </div>
  );
}
