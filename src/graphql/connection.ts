import type { ObjectRef } from '@pothos/core';
import { isNarrowed, type ListCount, type ListRow, mostCounted } from '../services/list-source.ts';
import { encodeCursor, pageSize } from '../services/page.ts';
import type { Sliced } from '../services/slice.ts';
import { builder } from './builder.ts';

/** A list that is read as far as the document asks: its rows, or none of them; and its count. */
export interface Connection<Row extends ListRow> {
  readonly page: Sliced<Row>;
  count(): Promise<ListCount>;
}

const most = mostCounted.toLocaleString('en-US');

/** What a list costs that is searched: its rows are looked at one by one until enough are found, or all. */
const searchCost = 500;

/** What a connection costs (query-limits.ts): itself, and what is asked of its rows once for each that it may answer. */
export function connectionComplexity({
  first,
  last,
  q,
  filter,
}: {
  first?: number | null | undefined;
  last?: number | null | undefined;
  q?: string | null | undefined;
  filter?: object | null | undefined;
}) {
  const rows = first ?? last ?? pageSize.fallback;
  return {
    field: isNarrowed({ q, ...filter }) ? searchCost : 1,
    multiplier: Math.min(Math.max(rows, 1), pageSize.largest),
  };
}

/** Cost of a field that only leads to others, which cost by themselves. */
const free = { field: 0, multiplier: 1 };

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** The connection type of a type of nodes, with its edge type. Its cursors are those of REST's pages. */
export function connectionType<Row extends ListRow>(
  name: string,
  node: ObjectRef<SchemaTypes, Row>,
  things: string,
) {
  const edge = builder.objectRef<Row>(`${name}Edge`).implement({
    description: `One of the ${things}, and where it stands in the list.`,
    fields: (t) => ({
      cursor: t.string({
        description: 'Pass it as after or before to go on from here. Opaque.',
        resolve: ({ id }) => encodeCursor(id),
      }),
      node: t.field({
        type: node,
        description: 'What it is.',
        complexity: free,
        // Pothos cannot tell what a node of a type that is still a parameter resolves to: it is the row.
        resolve: (row) => row as never,
      }),
    }),
  });
  return builder.objectRef<Connection<Row>>(name).implement({
    description: `A range of a list of ${things}, newest first.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: `The ${things} of this range.`,
        complexity: free,
        resolve: ({ page }) => [...page.rows],
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'Where this range begins and ends, and what lies on either side.',
        // It stands beside the rows, not in each.
        complexity: { field: 1, multiplier: 0 },
        resolve: ({ page }) => pageInfo(page),
      }),
      totalCount: t.int({
        description: `How many ${things} there are in the whole list, counted when it is asked for. With q or a filter, ${most} at the most: see totalCountIsExact.`,
        resolve: async (connection) => (await connection.count()).count,
      }),
      totalCountIsExact: t.boolean({
        description: `False where q or a filter leaves more than ${most} ${things}, so that totalCount stands for "${most}+".`,
        resolve: async (connection) => (await connection.count()).isExact,
      }),
    }),
  });
}

function pageInfo({ rows, hasNextPage, hasPreviousPage }: Sliced<ListRow>) {
  const [first, last] = [rows.at(0), rows.at(-1)];
  return {
    hasNextPage,
    hasPreviousPage,
    startCursor: first === undefined ? null : encodeCursor(first.id),
    endCursor: last === undefined ? null : encodeCursor(last.id),
  };
}
