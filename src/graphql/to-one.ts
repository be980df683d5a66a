import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import type { ServiceError } from '../services/errors.ts';
import { findOwnRows } from '../services/find-own-rows.ts';
import type { ListRow, ListTable } from '../services/list-source.ts';
import type { GraphqlContext } from './context.ts';
import { createSiblings } from './siblings.ts';

/**
 * The loader of a relation to one row of a table: one statement for all parents of a field together. It answers null
 * for an id that is null, that names nothing any more, or whose row is another developer's.
 */
export function toOne<Row extends ListRow>(table: ListTable) {
  const siblings = createSiblings<{ rows: ReadonlyMap<string, Row> }>();
  return async (
    id: string | null,
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<Row | null> => {
    if (id === null) return null;
    const group = siblings(context, info, id, () => {
      const { select } = queryFromInfo({ context, info, select: { id: true } });
      const columns = Object.keys(select);
      return { rows: (ids) => findOwnRows<Row>({ ctx: context.service, table, ids, columns }) };
    });
    return (await group.load('rows')).get(id) ?? null;
  };
}

/**
 * The same, for a relation that always leads to a row.
 * @param notFound what to say when the row is gone, as after a deletion while the document is answered
 */
export function toExactlyOne<Row extends ListRow>(table: ListTable, notFound: () => ServiceError) {
  const find = toOne<Row>(table);
  return async (id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<Row> => {
    const row = await find(id, context, info);
    if (row === null) throw notFound();
    return row;
  };
}
