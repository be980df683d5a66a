import { type DocumentNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';

/** The size of an operation's selection. Fields with a directive count, as `@include` may let them in. */
export interface SelectionMetrics {
  readonly aliases: number;
  readonly rootFields: number;
  readonly depth: number;
}

const introspection = new Set(['__schema', '__type']);

const nothing: SelectionMetrics = { aliases: 0, rootFields: 0, depth: 0 };

/**
 * Measures each operation of a document; a fragment counts each time it is spread. The document may be invalid: a spread
 * that closes a cycle or names no fragment counts as nothing, because validation refuses it afterwards.
 */
export function measureSelections({ definitions }: DocumentNode): SelectionMetrics[] {
  const fragments = new Map(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition.selectionSet] as const]
        : [],
    ),
  );
  // Each set is measured once: fragments that spread each other twice grow exponentially.
  const measured = new Map<SelectionSetNode, SelectionMetrics>();

  const measure = (selectionSet: SelectionSetNode | undefined): SelectionMetrics => {
    if (selectionSet === undefined) return nothing;
    const known = measured.get(selectionSet);
    if (known !== undefined) return known;
    measured.set(selectionSet, nothing);
    const total = selectionSet.selections.map(measureSelection).reduce(add, nothing);
    measured.set(selectionSet, total);
    return total;
  };

  const measureSelection = (selection: SelectionNode): SelectionMetrics => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return measure(fragments.get(selection.name.value));
    const inner = measure(selection.selectionSet);
    if (selection.kind === Kind.INLINE_FRAGMENT) return inner;
    const aliases = inner.aliases + (selection.alias === undefined ? 0 : 1);
    // Introspection nests types by nature. An alias may repeat the whole schema, so it weighs more.
    if (introspection.has(selection.name.value)) return { aliases: aliases * 10, rootFields: 1, depth: 1 };
    return { aliases, rootFields: 1, depth: inner.depth + 1 };
  };

  return definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? [measure(definition.selectionSet)] : [],
  );
}

const add = (left: SelectionMetrics, right: SelectionMetrics): SelectionMetrics => ({
  aliases: left.aliases + right.aliases,
  rootFields: left.rootFields + right.rootFields,
  depth: Math.max(left.depth, right.depth),
});
