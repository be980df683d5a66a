import { useMemo, useState } from 'react';
import { graphqlUrl } from '../../api/paths.ts';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { AccountLogPageQuery, LogEntryFragment } from '../../generated/graphql.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { SearchInput } from '../../list/search-input.tsx';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { LogEntry } from '../../log-entries/entry.ts';
import { Button } from '../../ui/button.tsx';
import { countText } from '../../ui/format.ts';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { type AccountTopic, eventsOfTopic } from './account-topics.ts';
import { EntryDialog } from './entry-dialog.tsx';
import styles from './log.module.css';
import { LogCard, logColumns } from './log-columns.tsx';
import { TopicSelect } from './topic-select.tsx';

const AccountLogPage = graphql(`
  query AccountLogPage($first: Int!, $after: String, $q: String, $filter: SecurityLogFilter) {
    me {
      account {
        securityLog(first: $first, after: $after, q: $q, filter: $filter) {
          totalCount
          totalCountIsExact
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              ...LogEntry
            }
          }
        }
      }
    }
  }
`);

function read({ me }: AccountLogPageQuery) {
  const page = pageOf(present(me).account.securityLog);
  return { ...page, rows: page.rows.map((node) => readFragment(LogEntry, node)) };
}

/** REST has no account's log. */
const curl = `curl ${graphqlUrl} \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"query": "{ me { account { securityLog(first: 20) { edges { node { createdAt event ip } } } } } }"}'`;

/** Of no use here: these entries are about the account. */
const hidden: ReadonlySet<string> = new Set(['code', 'license', 'user', 'device']);

export function AccountLog() {
  const [topic, setTopic] = useState<AccountTopic>('all');
  const [q, setQ] = useState('');
  const [opened, setOpened] = useState<LogEntryFragment | null>(null);
  const pages = usePages({
    name: JSON.stringify([topic, q]),
    query: (after) =>
      queryOf(
        AccountLogPage,
        { first: pageSize, after, q: q === '' ? null : q, filter: { events: eventsOfTopic(topic) } },
        ['account', 'api_key', 'webhook', 'application', 'policy'],
      ),
    read,
  });
  const columns = useMemo(() => logColumns(setOpened), []);
  return (
    <>
      <PageHeader
        title="Account log"
        sub={[
          pages.total && `${countText(pages.total.count, pages.total.isExact)} entries`,
          'what was done with your account; each application has its own log',
        ]
          .filter(Boolean)
          .join(' · ')}
      />
      <div className={styles.accountBar}>
        <SearchInput value={q} placeholder="Event, address or country" onChange={setQ} />
        <TopicSelect topic={topic} onChange={setTopic} />
      </div>
      <List
        label="Account log"
        pages={pages}
        columns={columns}
        hidden={hidden}
        card={(entry) => <LogCard entry={entry} onOpen={setOpened} />}
        empty={
          <EmptyState
            title="No entry matches"
            action={
              <Button
                onClick={() => {
                  setQ('');
                  setTopic('all');
                }}
              >
                Show all entries
              </Button>
            }
            curl={curl}
          >
            Entries are kept for about 90 days.
          </EmptyState>
        }
      />
      {opened !== null && <EntryDialog entry={opened} onClose={() => setOpened(null)} />}
    </>
  );
}
