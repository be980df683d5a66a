import type { GraphQLResolveInfo } from 'graphql';
import type { z } from 'zod';
import type { ListCount, ListRow, ListSource } from '../services/list-source.ts';
import { type Slice, type Sliced, sliceInput } from '../services/slice.ts';
import type { Connection } from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { parseInput } from './input.ts';
import { ResolveTogether } from './resolve-together.ts';
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

const none: ListCount = { count: 0, isExact: true };
const nothing: Sliced<never> = { rows: [], hasNextPage: false, hasPreviousPage: false };

/**
 * How a list field resolves: one statement for the rows and one for the counts, for all parents of the field together
 * and each only when it is asked for.
 * @param filterSchema of `q` and the members of `filter` together
 */
export function listField<Row extends ListRow, FilterSchema extends z.ZodType>(
  source: ListSource<z.output<FilterSchema>>,
  filterSchema: FilterSchema,
) {
  // A plan gives the same arguments again and again (query-plan.ts).
  const parsed = new WeakMap<ListArguments, { slice: Slice; filter: z.output<FilterSchema> }>();
  const parse = (given: ListArguments) => {
    const { q, filter: conditions, ...range } = given;
    const read = parsed.get(given) ?? {
      slice: parseInput(sliceInput, range),
      filter: parseInput(filterSchema, { q, ...conditions }),
    };
    parsed.set(given, read);
    return read;
  };

  const siblings = createSiblings<Loaded<Row>>();

  const loaders = (
    given: ListArguments,
    { service: ctx }: GraphqlContext,
    info: GraphQLResolveInfo,
    together = false,
  ) => {
    const { slice, filter } = parse(given);
    const columns = selectedColumns(info, source.table, ['edges', 'node']);
    const lookAhead = selectedFields(info).has('pageInfo');
    return {
      pages: (parentIds: readonly string[]) =>
        source.slices<Row>({ ctx, parentIds, slice, lookAhead, filter, columns, together }),
      counts: (parentIds: readonly string[]) => source.counts({ ctx, parentIds, filter, together }),
    };
  };

  const resolve = (
    { id }: ListRow,
    given: ListArguments,
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Connection<Row> | Promise<Connection<Row>> => {
    const group = siblings(context, info, id, () => loaders(given, context, info));
    const { counts, pages } = isAsked(info);
    const count = async () => (await group.load('counts')).get(id) ?? none;
    // Asked for at once, beside the rows; whoever reads it is told of a failure.
    if (counts) group.load('counts').catch(() => undefined);
    if (!pages) return { page: nothing, count };
    return group.load('pages').then((pages) => ({ page: pages.get(id) ?? nothing, count }));
  };

  const together = new ResolveTogether<ListRow, ListArguments, GraphqlContext>(
    async (parents, given, context, info) => {
      const parentIds = [...new Set(parents.map(({ id }) => id))];
      const load = loaders(given, context, info, true);
      const asked = isAsked(info);
      const [pages, counts] = await Promise.all([
        asked.pages ? load.pages(parentIds) : undefined,
        asked.counts ? load.counts(parentIds) : undefined,
      ]);
      return parents.map(
        ({ id }): Connection<Row> => ({
          page: pages?.get(id) ?? nothing,
          count: () => counts?.get(id) ?? none,
        }),
      );
    },
  );

  return { resolve, extensions: { together } };
}

interface Loaded<Row> extends Record<string, unknown> {
  readonly pages: ReadonlyMap<string, Sliced<Row>>;
  readonly counts: ReadonlyMap<string, ListCount>;
}

function isAsked(info: GraphQLResolveInfo): { readonly pages: boolean; readonly counts: boolean } {
  const asked = selectedFields(info);
  return {
    pages: asked.has('edges') || asked.has('pageInfo'),
    counts: asked.has('totalCount') || asked.has('totalCountIsExact'),
  };
}
