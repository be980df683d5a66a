import { present } from '../../api/present.ts';
import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import { EntryRow } from '../../log-entries/entry-row.tsx';
import { Timeline } from '../../log-entries/timeline.tsx';
import { useEntries } from '../../log-entries/use-entries.ts';

const UserTimeline = graphql(`
  query UserTimeline($applicationId: ID!, $userId: ID!, $after: String) {
    application(id: $applicationId) {
      securityLog(first: 20, after: $after, filter: { userId: $userId }) {
        ...LogEntries
      }
    }
  }
`);

interface UserLogProps {
  readonly applicationId: string;
  readonly userId: string;
}

export function UserLog({ applicationId, userId }: UserLogProps) {
  const entries = useEntries(['UserTimeline', { userId }], async (after, signal) => {
    const answer = await request(UserTimeline, { applicationId, userId, after }, { signal });
    return present(answer.application).securityLog;
  });
  return <Timeline entries={entries}>{(entry) => <EntryRow entry={entry} without="user" />}</Timeline>;
}
