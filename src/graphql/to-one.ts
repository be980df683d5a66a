import type { GraphQLResolveInfo } from 'graphql';
import type { ServiceError } from '../services/errors.ts';
import { findOwnRows } from '../services/find-own-rows.ts';
import type { ListRow, ListTable } from '../services/list-source.ts';
import type { GraphqlContext } from './context.ts';
import { readRows } from './read-rows.ts';
import { selectedColumns } from './selected-columns.ts';
import { createSiblings } from './siblings.ts';

/**
 * The loader of a relation to one row of a table: one statement for all parents of a field together. It answers null
 * for an id that is null, that names nothing any more, or whose row is another developer's.
 */
export function toOne<Row extends ListRow>(table: ListTable) {
  const siblings = createSiblings<{ rows: ReadonlyMap<string, Row> }>();
  const read = readRows<Row>(table);
  const load = async (id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<Row | null> => {
    const group = siblings(context, info, id, () => {
      const columns = selectedColumns(info, table);
      return {
        rows: async (ids) => {
          const rows = await findOwnRows<Row>({ ctx: context.service, table, ids, columns });
          read.note(rows.values(), columns, context, info);
          return rows;
        },
      };
    });
    return (await group.load('rows')).get(id) ?? null;
  };
  return (id: string | null, context: GraphqlContext, info: GraphQLResolveInfo): MaybePromise<Row | null> => {
    if (id === null) return null;
    return read.find(id, selectedColumns(info, table), context, info) ?? load(id, context, info);
  };
}

type MaybePromise<Value> = Value | Promise<Value>;

/**
 * The same, for a relation that always leads to a row.
 * @param notFound what to say when the row is gone, as after a deletion while the document is answered
 */
export function toExactlyOne<Row extends ListRow>(table: ListTable, notFound: () => ServiceError) {
  const find = toOne<Row>(table);
  const orThrow = (row: Row | null): Row => {
    if (row === null) throw notFound();
    return row;
  };
  return (id: string, context: GraphqlContext, info: GraphQLResolveInfo): MaybePromise<Row> => {
    const found = find(id, context, info);
    return found instanceof Promise ? found.then(orThrow) : orThrow(found);
  };
}
