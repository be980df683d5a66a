import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LogEntryFragment, SecurityEvent } from '../generated/graphql.ts';
import { CodeBadge } from '../ui/status.tsx';
import { Dim, Mono } from '../ui/text.tsx';
import { Clock, Day } from '../ui/time.tsx';
import { actorText } from './entry-actor.ts';
import styles from './entry-row.module.css';
import { entryText } from './entry-text.ts';
import { textOf } from './metadata.ts';

/** Other entries have the device of their license, which says nothing about them. */
const aboutDevices: ReadonlySet<SecurityEvent> = new Set([
  'device_moved',
  'device_released',
  'device_renamed',
  'hwid_reset',
  'lease_issued',
  'lease_rolled_back',
  'license_validated',
  'self_service_refused',
  'session_refused',
  'user_logged_in',
  'user_registered',
  'user_upgraded',
]);

interface EntryRowProps {
  readonly entry: LogEntryFragment;
  /** Left out where all entries are about the same license or user. */
  readonly without?: 'license' | 'user';
  /** Such as a button that explains a refusal. */
  readonly action?: ReactNode;
}

/** An entry of a log: when, what, about whom, and by whom. It stands inside a list item or a cell. */
export function EntryRow({ entry, without, action }: EntryRowProps) {
  const { applicationId, createdAt, event, code, hwid, ip, country, metadata, license, user } = entry;
  const formerUser = user ? null : textOf(metadata.username);
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
            <Mono>{license.keyPrefix}…</Mono>
          </Link>
        )}
        {user && applicationId && without !== 'user' && (
          <Link to="/applications/$applicationId/users/$userId" params={{ applicationId, userId: user.id }}>
            {user.username}
          </Link>
        )}
        {formerUser !== null && without !== 'user' && <span>{formerUser}</span>}
        {hwid && aboutDevices.has(event) && (
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
