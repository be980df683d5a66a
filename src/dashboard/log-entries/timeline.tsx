import type { ReactNode } from 'react';
import type { LogEntryFragment } from '../generated/graphql.ts';
import { Button } from '../ui/button.tsx';
import { countText } from '../ui/format.ts';
import { Card } from '../ui/page.tsx';
import { Dim } from '../ui/text.tsx';
import styles from './timeline.module.css';
import type { Entries } from './use-entries.ts';

interface TimelineProps {
  readonly entries: Entries;
  readonly children: (entry: LogEntryFragment) => ReactNode;
}

/** What happened to one thing, newest first. */
export function Timeline({
  entries: { entries, total, hasMore, isLoading, showMore },
  children,
}: TimelineProps) {
  return (
    <Card
      title="Timeline"
      aside={
        <Dim>
          {countText(total.count, total.isExact)} {total.count === 1 ? 'entry' : 'entries'}
        </Dim>
      }
    >
      {entries.length === 0 && <Dim>Nothing happened in the last 90 days, as long as the log is kept.</Dim>}
      <ol className={styles.timeline}>
        {entries.map((entry) => (
          <li key={entry.id}>{children(entry)}</li>
        ))}
      </ol>
      {hasMore && (
        <div className={styles.more}>
          <Button small busy={isLoading} onClick={showMore}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
