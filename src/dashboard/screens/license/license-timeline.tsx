import { present } from '../../api/present.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { isRefusal } from '../../log-entries/entry.ts';
import { EntryRow } from '../../log-entries/entry-row.tsx';
import { Timeline } from '../../log-entries/timeline.tsx';
import { useEntries } from '../../log-entries/use-entries.ts';
import { Button } from '../../ui/button.tsx';
import { Hidden } from '../../ui/text.tsx';

const LicenseTimelinePage = graphql(`
  query LicenseTimelinePage($licenseId: ID!, $after: String) {
    license(id: $licenseId) {
      securityLog(first: 20, after: $after) {
        ...LogEntries
      }
    }
  }
`);

interface LicenseTimelineProps {
  readonly licenseId: string;
  readonly onExplain: (logEntryId: string) => void;
}

/** What happened to the license; each refusal can be explained. */
export function LicenseTimeline({ licenseId, onExplain }: LicenseTimelineProps) {
  const entries = useEntries(['LicenseTimelinePage', { licenseId }], async (after, signal) => {
    const answer = await request(LicenseTimelinePage, { licenseId, after }, { signal });
    return present(answer.license).securityLog;
  });
  return (
    <Timeline entries={entries}>
      {(entry) => (
        <EntryRow
          entry={entry}
          without="license"
          action={
            isRefusal(entry) && (
              <Button small look="quiet" onClick={() => onExplain(entry.id)}>
                Explain<Hidden> this refusal with {entry.code}</Hidden>
              </Button>
            )
          }
        />
      )}
    </Timeline>
  );
}
