import type { ObjectRef } from '@pothos/core';
import { isNarrowed, type ListCount, type ListRow, maxCounted } from '../services/list-source.ts';
import { encodeCursor, pageSize } from '../services/page.ts';
import type { Sliced } from '../services/slice.ts';
import { builder } from './builder.ts';

/** The arguments of a list field. */
export interface ListArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly q?: string | null | undefined;
  readonly filter?: object | null | undefined;
}

/** A range of a list. It is empty if the document selects no rows, and the count is read on demand. */
export interface Connection<Row extends ListRow> {
  readonly page: Sliced<Row>;
  count(): Promise<ListCount>;
}

const maxShown = maxCounted.toLocaleString('en-US');

/** The cost of a list that is searched: its rows may have to be checked one by one. */
const searchCost = 500;

/** The cost of a connection (query-limits.ts): its own, and that of its selection for each row that it may have. */
export function connectionComplexity({ first, last, q, filter }: ListArguments) {
  const rows = first ?? last ?? pageSize.fallback;
  return {
    field: isNarrowed({ q, ...filter }) ? searchCost : 1,
    multiplier: Math.min(Math.max(rows, 1), pageSize.largest),
  };
}

/** The cost of a field that only leads to other fields, which have their own costs. */
const free = { field: 0, multiplier: 1 };

type SchemaTypes = typeof builder.$inferSchemaTypes;

/** The connection type and the edge type of a node type. The cursors are those of REST's pages. */
export function connectionType<Row extends ListRow>(
  name: string,
  node: ObjectRef<SchemaTypes, Row>,
  things: string,
) {
  const edge = builder.objectRef<Row>(`${name}Edge`).implement({
    description: `An item in a list of ${things}.`,
    fields: (t) => ({
      cursor: t.string({
        description: 'The position of the item: pass it as after or before. Opaque.',
        resolve: ({ id }) => encodeCursor(id),
      }),
      node: t.field({
        type: node,
        description: 'The item.',
        complexity: free,
        // The type of the node is a parameter, so Pothos cannot infer that it resolves to the row.
        resolve: (row) => row as never,
      }),
    }),
  });
  return builder.objectRef<Connection<Row>>(name).implement({
    description: `A page of a list of ${things}, newest first.`,
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: `The ${things} of this page.`,
        complexity: free,
        resolve: ({ page }) => [...page.rows],
      }),
      pageInfo: t.field({
        type: builder.pageInfoRef(),
        description: 'The position of this page in the list.',
        // Selected once, not for each row.
        complexity: { field: 1, multiplier: 0 },
        resolve: ({ page }) => pageInfo(page),
      }),
      totalCount: t.int({
        description: `The number of ${things} in the whole list. With q or a filter it stops at ${maxShown}: see totalCountIsExact.`,
        resolve: async (connection) => (await connection.count()).count,
      }),
      totalCountIsExact: t.boolean({
        description: `False if more than ${maxShown} ${things} match q and filter; totalCount is then ${maxShown}.`,
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
