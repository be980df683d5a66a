import { Link } from '@tanstack/react-router';
import type { LogEntryFragment } from '../../generated/graphql.ts';
import type { Column } from '../../list/columns.ts';
import { actorText } from '../../log-entries/entry-actor.ts';
import { entryText } from '../../log-entries/entry-text.ts';
import { CodeBadge } from '../../ui/status.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Clock, Day } from '../../ui/time.tsx';
import styles from './log.module.css';

type Entry = LogEntryFragment;

export const When = ({ at }: { readonly at: string }) => (
  <>
    <Clock at={at} />{' '}
    <Dim>
      <Day at={at} />
    </Dim>
  </>
);

/** The license that an entry is about. Its id alone is known if it was deleted. */
export const LicenseOf = ({ entry: { applicationId, license, licenseId } }: { readonly entry: Entry }) =>
  license && applicationId ? (
    <Link
      to="/applications/$applicationId/licenses/$licenseId"
      params={{ applicationId, licenseId: license.id }}
    >
      <Mono>{license.keyPrefix}…</Mono>
    </Link>
  ) : (
    licenseId && <Dim>deleted</Dim>
  );

export const UserOf = ({ entry: { applicationId, user, userId } }: { readonly entry: Entry }) =>
  user && applicationId ? (
    <Link to="/applications/$applicationId/users/$userId" params={{ applicationId, userId: user.id }}>
      {user.username}
    </Link>
  ) : (
    userId && <Dim>deleted</Dim>
  );

interface EventButtonProps {
  readonly entry: Entry;
  readonly onOpen: (entry: Entry) => void;
}

export const EventButton = ({ entry, onOpen }: EventButtonProps) => (
  <button type="button" className={styles.event} aria-haspopup="dialog" onClick={() => onOpen(entry)}>
    {entryText(entry)}
  </button>
);

export const logColumns = (onOpen: (entry: Entry) => void): readonly Column<Entry>[] => [
  { id: 'time', header: 'Time', width: '140px', cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    id: 'event',
    header: 'Event',
    width: '264px',
    cell: (entry) => <EventButton entry={entry} onOpen={onOpen} />,
  },
  { id: 'code', header: 'Verdict', width: '158px', cell: ({ code }) => code && <CodeBadge code={code} /> },
  { id: 'license', header: 'License', width: '92px', cell: (entry) => <LicenseOf entry={entry} /> },
  { id: 'user', header: 'User', width: '96px', cell: (entry) => <UserOf entry={entry} /> },
  {
    id: 'device',
    header: 'Device',
    width: '128px',
    cell: ({ hwid }) =>
      hwid && (
        <span title={hwid}>
          <Mono>{hwid}</Mono>
        </span>
      ),
  },
  {
    id: 'address',
    header: 'Address',
    width: '132px',
    cell: ({ ip, country }) =>
      ip && (
        <>
          <Mono>{ip}</Mono> <Dim>{country}</Dim>
        </>
      ),
  },
  { id: 'actor', header: 'By', width: '96px', cell: (entry) => actorText(entry) },
];

/** An entry on a narrow screen. */
export const LogCard = ({ entry, onOpen }: EventButtonProps) => (
  <>
    <div className={styles.cardHead}>
      <EventButton entry={entry} onOpen={onOpen} />
      {entry.code && <CodeBadge code={entry.code} />}
    </div>
    <div className={styles.cardFacts}>
      <LicenseOf entry={entry} />
      <UserOf entry={entry} />
      {entry.hwid && <Mono>{entry.hwid}</Mono>}
    </div>
    <div className={styles.cardFacts}>
      <When at={entry.createdAt} />
      {entry.ip && (
        <Dim>
          <Mono>{entry.ip}</Mono> {entry.country}
        </Dim>
      )}
      <Dim>{actorText(entry)}</Dim>
    </div>
  </>
);
