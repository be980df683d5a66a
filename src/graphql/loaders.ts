import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { GraphqlContext } from './context.ts';

/**
 * Makes something once for each field of a request's document, such as the loaders that all parents of the field share.
 * The executor passes the same array of nodes for all parents of a field, so the array identifies the field.
 */
export function oncePerField<More extends readonly unknown[], Made>(
  make: (context: GraphqlContext, info: GraphQLResolveInfo, ...more: More) => Made,
): (context: GraphqlContext, info: GraphQLResolveInfo, ...more: More) => Made {
  type MadeOfFields = WeakMap<GraphQLResolveInfo['fieldNodes'], Made>;
  const byContext = new WeakMap<GraphqlContext, MadeOfFields>();
  return (context, info, ...more) => {
    const ofFields: MadeOfFields = byContext.get(context) ?? new WeakMap();
    byContext.set(context, ofFields);
    const made = ofFields.get(info.fieldNodes) ?? make(context, info, ...more);
    ofFields.set(info.fieldNodes, made);
    return made;
  };
}

/**
 * A loader that reads all ids of one tick together. The result is undefined for an id that was not found. Nothing is
 * cached: a mutation must read what it changed, and a stream stays open for hours.
 */
export const createLoader = <Value>(
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): DataLoader<string, Value | undefined> =>
  new DataLoader(
    async (ids) => {
      const found = await read([...new Set(ids)]);
      return ids.map((id) => found.get(id));
    },
    { cache: false },
  );
