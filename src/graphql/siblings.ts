import { setImmediate } from 'node:timers/promises';
import type { GraphQLResolveInfo } from 'graphql';
import type { GraphqlContext } from './context.ts';

/** The parents of one field of a document that were resolved together, and what is loaded for all of them at once. */
export interface Siblings<Loaded extends Record<string, unknown>> {
  readonly parentIds: Set<string>;
  load<Name extends keyof Loaded>(name: Name): Promise<Loaded[Name]>;
}

type Loaders<Loaded> = { [Name in keyof Loaded]: (parentIds: readonly string[]) => Promise<Loaded[Name]> };

/**
 * Makes a field that statements are saved on: its parents join a group for as long as they are being resolved, and
 * each loader runs once for the group instead of once a parent.
 */
export function createSiblings<Loaded extends Record<string, unknown>>() {
  // The executor makes one array of field nodes for all parents of a list: it tells which belong together.
  const open = new WeakMap<GraphqlContext, Map<GraphQLResolveInfo['fieldNodes'], Siblings<Loaded>>>();
  return (
    context: GraphqlContext,
    { fieldNodes }: GraphQLResolveInfo,
    parentId: string,
    createLoaders: () => Loaders<Loaded>,
  ): Siblings<Loaded> => {
    const groups = open.get(context) ?? new Map<GraphQLResolveInfo['fieldNodes'], Siblings<Loaded>>();
    open.set(context, groups);
    const group = groups.get(fieldNodes) ?? createGroup(createLoaders(), () => groups.delete(fieldNodes));
    groups.set(fieldNodes, group);
    group.parentIds.add(parentId);
    return group;
  };
}

function createGroup<Loaded extends Record<string, unknown>>(
  loaders: Loaders<Loaded>,
  close: () => void,
): Siblings<Loaded> {
  const parentIds = new Set<string>();
  // Also when nothing is loaded: a group that stayed open would be kept for as long as a subscription runs.
  const closed = setImmediate().then(close);
  const loading: { [Name in keyof Loaded]?: Promise<Loaded[Name]> } = {};
  return {
    parentIds,
    load: (name) => {
      loading[name] ??= closed.then(() => loaders[name]([...parentIds]));
      return loading[name];
    },
  };
}
