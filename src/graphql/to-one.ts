import type { GraphQLResolveInfo } from 'graphql';
import type { ServiceError } from '../services/errors.ts';
import { findOwnRows } from '../services/find-own-rows.ts';
import type { ListRow, ListTable } from '../services/list-source.ts';
import type { Scope } from '../services/scopes.ts';
import type { GraphqlContext } from './context.ts';
import { createLoader, oncePerField } from './loaders.ts';
import { readRows } from './read-rows.ts';
import { selectedColumns } from './selected-columns.ts';

type MaybePromise<Value> = Value | Promise<Value>;

/**
 * Loads a relation to one row of a table, with one statement for all parents of a field. The result is null if the id is
 * null, names nothing, or names another developer's row.
 * @param scope the scope that the caller needs; null for none
 */
export function toOne<Row extends ListRow>(table: ListTable, scope: Scope | null = table.readScope) {
  const read = readRows<Row>(table);
  const loaderOf = oncePerField((context, info) =>
    createLoader(async (ids) => {
      const columns = selectedColumns(info, table);
      const rows = await findOwnRows<Row>({ ctx: context.service, table, ids, columns, scope });
      read.note(rows.values(), columns, context, info);
      return rows;
    }),
  );
  return (id: string | null, context: GraphqlContext, info: GraphQLResolveInfo): MaybePromise<Row | null> => {
    if (id === null) return null;
    const known = read.find(id, selectedColumns(info, table), context, info);
    return (
      known ??
      loaderOf(context, info)
        .load(id)
        .then((row) => row ?? null)
    );
  };
}

/**
 * The same for a relation that always leads to a row.
 * @param notFound the error if the row does not exist, for example because it was deleted during the request
 */
export function toExactlyOne<Row extends ListRow>(
  table: ListTable,
  notFound: () => ServiceError,
  scope: Scope | null = table.readScope,
) {
  const find = toOne<Row>(table, scope);
  const orThrow = (row: Row | null): Row => {
    if (row === null) throw notFound();
    return row;
  };
  return (id: string, context: GraphqlContext, info: GraphQLResolveInfo): MaybePromise<Row> => {
    const found = find(id, context, info);
    return found instanceof Promise ? found.then(orThrow) : orThrow(found);
  };
}

/**
 * The same for the row that a mutation changed: its answer may show the row to a caller who may not read others. The rows
 * that it leads to need their own scopes.
 */
export const toChanged = <Row extends ListRow>(table: ListTable, notFound: () => ServiceError) =>
  toExactlyOne<Row>(table, notFound, null);
