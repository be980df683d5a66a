import type { GraphQLResolveInfo } from 'graphql';
import type { ListRow, ListTable } from '../services/list-source.ts';
import type { GraphqlContext } from './context.ts';

interface ReadRow<Row> {
  readonly row: Row;
  readonly columns: ReadonlySet<string>;
}

const byContext = new WeakMap<GraphqlContext, Map<ListTable, Map<string, ReadRow<ListRow>>>>();

/**
 * The rows that a query has read at its root, so that a relation back to one (from the licenses of an application to the
 * application) takes no statement. Not for mutations, which may have changed them, and not for rows further down: those
 * are read in no fixed order, and the number of statements of a document must not depend on it.
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
      // The rows of a table have one type, which the caller names.
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
