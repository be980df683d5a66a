import type { GraphQLResolveInfo } from 'graphql';
import type { ListRow, ListTable } from '../services/list-source.ts';
import type { GraphqlContext } from './context.ts';

interface ReadRow<Row> {
  readonly row: Row;
  readonly columns: ReadonlySet<string>;
}

const byContext = new WeakMap<GraphqlContext, Map<ListTable, Map<string, ReadRow<ListRow>>>>();

/**
 * The rows of a table that a query has at its root, so that what leads back to one (the licenses of an application to
 * that application) needs no statement. Mutations read anew: each may have changed what the one before it answered.
 * Rows further down come in any order, and how many statements a document takes must not hang on it.
 */
export function readRows<Row extends ListRow>(table: ListTable) {
  const rowsOf = (context: GraphqlContext): Map<string, ReadRow<ListRow>> => {
    const tables = byContext.get(context) ?? new Map<ListTable, Map<string, ReadRow<ListRow>>>();
    byContext.set(context, tables);
    const rows = tables.get(table) ?? new Map<string, ReadRow<ListRow>>();
    tables.set(table, rows);
    return rows;
  };
  return {
    /** The row, if it was read with all of these columns. */
    find(
      id: string,
      columns: readonly string[],
      context: GraphqlContext,
      { operation }: GraphQLResolveInfo,
    ): Row | undefined {
      if (operation.operation !== 'query') return undefined;
      const read = rowsOf(context).get(id);
      // Rows of a table are read here alone, with the type that the caller gives them.
      return read !== undefined && columns.every((column) => read.columns.has(column))
        ? (read.row as Row)
        : undefined;
    },
    note(
      rows: Iterable<Row>,
      columns: readonly string[],
      context: GraphqlContext,
      { parentType, schema }: GraphQLResolveInfo,
    ): void {
      if (parentType !== schema.getQueryType()) return;
      const known = rowsOf(context);
      const read = new Set(columns);
      for (const row of rows) known.set(row.id, { row, columns: read });
    },
  };
}
