import { Link } from '@tanstack/react-router';
import type { LogEntryFragment } from '../../generated/graphql.ts';
import { actorText } from '../../log-entries/entry-actor.ts';
import { entryText } from '../../log-entries/entry-text.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card, Loading, Problem } from '../../ui/page.tsx';
import { CodeBadge } from '../../ui/status.tsx';
import { Mono } from '../../ui/text.tsx';
import { Clock, Day } from '../../ui/time.tsx';
import styles from './overview.module.css';
import { useNewestEntries } from './use-newest-entries.ts';

interface LivePanelProps {
  /** Null: the account and all of its applications. */
  readonly application: string | null;
}

/** What happened last, as it happens. */
export function LivePanel({ application }: LivePanelProps) {
  const { entries, error, retry } = useNewestEntries(application);
  return (
    <Card
      title="Live"
      aside={
        application === null ? (
          <ButtonLink to="/account/log" small look="quiet">
            Log
          </ButtonLink>
        ) : (
          <ButtonLink
            to="/applications/$applicationId/log"
            params={{ applicationId: application }}
            small
            look="quiet"
          >
            Log
          </ButtonLink>
        )
      }
    >
      {error !== null ? (
        <Problem error={error} onRetry={retry} />
      ) : entries === null ? (
        <Loading />
      ) : entries.length === 0 ? (
        <p className={styles.nothing}>Nothing has happened yet. Validations and changes appear here.</p>
      ) : (
        <ul className={styles.entries}>
          {entries.map((entry) => (
            <Entry key={entry.id} {...entry} />
          ))}
        </ul>
      )}
    </Card>
  );
}

const isToday = (iso: string): boolean => new Date(iso).toDateString() === new Date().toDateString();

function Entry(entry: LogEntryFragment) {
  const { createdAt, applicationId, license, user, code } = entry;
  const who = actorText(entry);
  return (
    <li className={styles.entry}>
      <span className={styles.time}>
        {isToday(createdAt) ? <Clock at={createdAt} /> : <Day at={createdAt} />}
      </span>
      <span className={styles.what}>
        {entryText(entry)}{' '}
        {license && applicationId ? (
          <Link
            to="/applications/$applicationId/licenses/$licenseId"
            params={{ applicationId, licenseId: license.id }}
          >
            <Mono>{license.keyPrefix}…</Mono>
          </Link>
        ) : (
          user?.username
        )}
      </span>
      {code ? (
        <CodeBadge code={code} />
      ) : (
        who !== null && (
          <span className={styles.who} title={who}>
            {who}
          </span>
        )
      )}
    </li>
  );
}
