import { useMemo, useState } from 'react';
import { serviceUrl } from '../../api/paths.ts';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { ApiKeysPageQuery } from '../../generated/graphql.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { countText } from '../../ui/format.ts';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { type ApiKeyRow, ApiKeysKey } from './api-key.ts';
import { ApiKeyCard } from './api-key-card.tsx';
import { columnsOf } from './api-key-columns.tsx';
import { ApiKeyDialogs, type OpenDialog } from './api-key-dialogs.tsx';
import type { ApiKeyAct } from './api-key-menu.tsx';
import styles from './api-keys.module.css';

const ApiKeysPage = graphql(`
  query ApiKeysPage($first: Int!, $after: String, $filter: ApiKeyFilter) {
    me {
      account {
        apiKeys(first: $first, after: $after, filter: $filter) {
          totalCount
          totalCountIsExact
          pageInfo {
            endCursor
            hasNextPage
          }
          edges {
            node {
              id
              ...ApiKeysKey
            }
          }
        }
      }
    }
  }
`);

const read = ({ me }: ApiKeysPageQuery) => {
  const page = pageOf(present(me).account.apiKeys);
  return { ...page, rows: page.rows.map((row) => readFragment(ApiKeysKey, row)) };
};

type Shown = 'current' | 'revoked' | 'all';

const filters = { current: { revoked: false }, revoked: { revoked: true }, all: null };

const curl = `curl -s -b cookies.txt ${serviceUrl.href}api/v1/account/api-keys \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"Shop","scopes":["licenses:mint"]}'`;

/** The credentials of the developer's programs. */
export function ApiKeys() {
  const [shown, setShown] = useState<Shown>('current');
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const pages = usePages({
    name: shown,
    query: (after) => queryOf(ApiKeysPage, { first: pageSize, after, filter: filters[shown] }, ['api_key']),
    read,
  });
  const onAct = (act: ApiKeyAct, row: ApiKeyRow) => setDialog({ kind: act, row });
  const columns = useMemo(() => columnsOf((act, row) => setDialog({ kind: act, row })), []);
  const create = (
    <Button look="primary" onClick={() => setDialog({ kind: 'create' })}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="API keys"
        sub={
          pages.total === null
            ? 'Credentials for your programs'
            : `Credentials for your programs · ${countText(pages.total.count, pages.total.isExact)} shown`
        }
      >
        {create}
      </PageHeader>
      <div className={styles.filter}>
        <SelectField
          label="Show"
          value={shown}
          onChange={setShown}
          options={[
            { value: 'current', label: 'Keys that are not revoked' },
            { value: 'revoked', label: 'Revoked keys' },
            { value: 'all', label: 'All keys' },
          ]}
        />
      </div>
      <List
        label="API keys"
        pages={pages}
        columns={columns}
        card={(row) => <ApiKeyCard row={row} onAct={onAct} />}
        empty={
          shown === 'revoked' ? (
            <EmptyState title="No revoked keys">A key that you revoke is listed here.</EmptyState>
          ) : (
            <EmptyState title="No API keys yet" action={create} curl={curl}>
              A program, such as your shop, signs in with an API key. Give each one only what it needs.
            </EmptyState>
          )
        }
      />
      {dialog !== null && (
        <ApiKeyDialogs dialog={dialog} onOpen={setDialog} onClose={() => setDialog(null)} />
      )}
    </>
  );
}
