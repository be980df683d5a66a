import type { GraphQLResolveInfo } from 'graphql';
import type { z } from 'zod';
import type { ListRow, ListSource } from '../services/list-source.ts';
import { type Sliced, sliceInput } from '../services/slice.ts';
import type { Connection } from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { parseInput } from './input.ts';
import { selectedColumns, selectedFields } from './selected-columns.ts';
import { createSiblings } from './siblings.ts';

/** The arguments of a list field, as a document gives them. */
interface ListArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly q?: string | null | undefined;
  readonly filter?: object | null | undefined;
}

const nothing: Sliced<never> = { rows: [], hasNextPage: false, hasPreviousPage: false };

/**
 * The resolver of a list field: one statement for the rows and one for the counts, for all parents of the field
 * together and each only when it is asked for.
 * @param filterSchema of `q` and the members of `filter` together
 */
export function listResolver<Row extends ListRow, FilterSchema extends z.ZodType>(
  source: ListSource<z.output<FilterSchema>>,
  filterSchema: FilterSchema,
) {
  const siblings = createSiblings<{
    pages: ReadonlyMap<string, Sliced<Row>>;
    counts: ReadonlyMap<string, number>;
  }>();
  return (
    { id }: ListRow,
    { q, filter: conditions, ...range }: ListArguments,
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Connection<Row> | Promise<Connection<Row>> => {
    const group = siblings(context, info, id, () => {
      const ctx = context.service;
      const slice = parseInput(sliceInput, range);
      const filter = parseInput(filterSchema, { q, ...conditions });
      const columns = selectedColumns(info, source.table, ['edges', 'node']);
      return {
        pages: (parentIds) => source.slices<Row>({ ctx, parentIds, slice, filter, columns }),
        counts: (parentIds) => source.counts({ ctx, parentIds, filter }),
      };
    });
    const asked = selectedFields(info);
    const totalCount = async () => (await group.load('counts')).get(id) ?? 0;
    // Asked for at once, beside the rows; whoever reads it is told of a failure.
    if (asked.has('totalCount')) group.load('counts').catch(() => undefined);
    if (!asked.has('edges') && !asked.has('pageInfo')) return { page: nothing, totalCount };
    return group.load('pages').then((pages) => ({ page: pages.get(id) ?? nothing, totalCount }));
  };
}
