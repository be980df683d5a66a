import type { GraphQLResolveInfo } from 'graphql';
import type { ListCount, ListRow, ListSource } from '../services/list-source.ts';
import { parseInput } from '../services/parse-input.ts';
import { type Sliced, sliceInput } from '../services/slice.ts';
import { type Connection, connectionComplexity, type ListArguments } from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { withoutNulls } from './input.ts';
import { createLoader, oncePerField } from './loaders.ts';
import { selectedColumns, selectedFields } from './selected-columns.ts';

const none: ListCount = { count: 0, isExact: true };
const nothing: Sliced<never> = { rows: [], hasNextPage: false, hasPreviousPage: false };

/**
 * The cost and the resolver of a list field: one statement for the rows and one for the counts of all parents of the
 * field, and each only if the document asks for it. The source parses `q` and the members of `filter` together.
 */
export function listField<Row extends ListRow>(source: ListSource<object>) {
  const loadersOf = oncePerField((context, info, given: ListArguments) => {
    const { q, filter: conditions, ...range } = given;
    const slice = parseInput(sliceInput, withoutNulls(range));
    const filter = parseInput(source.filter, withoutNulls({ q, ...conditions }));
    const columns = selectedColumns(info, source.table, ['edges', 'node']);
    const lookAhead = selectedFields(info).has('pageInfo');
    return {
      pages: createLoader((parentIds) =>
        source.slices<Row>({ ctx: context.service, parentIds, slice, lookAhead, filter, columns }),
      ),
      counts: createLoader((parentIds) => source.counts({ ctx: context.service, parentIds, filter })),
    };
  });

  const resolve = async (
    { id }: ListRow,
    given: ListArguments,
    context: GraphqlContext,
    info: GraphQLResolveInfo,
  ): Promise<Connection<Row>> => {
    const { pages, counts } = loadersOf(context, info, given);
    const asked = selectedFields(info);
    const count = asked.has('totalCount') || asked.has('totalCountIsExact') ? counts.load(id) : undefined;
    // The field that reads the count reports its failure.
    count?.catch(() => undefined);
    const page = asked.has('edges') || asked.has('pageInfo') ? await pages.load(id) : undefined;
    return { page: page ?? nothing, count: async () => (await count) ?? none };
  };
  return { complexity: connectionComplexity, resolve };
}
