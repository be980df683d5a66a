import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { ListTable } from '../services/list-source.ts';

/**
 * Options of a field that is not simply the column of its own name: the columns of its type's table that it is made
 * of, if any.
 */
export const reads = (...columns: readonly string[]) => ({ extensions: { columns } });

/**
 * The columns that answering a field takes: those of the fields that are asked of its rows.
 * @param path the fields from this one to the rows, such as `['edges', 'node']` of a connection
 */
export const selectedColumns = onceForEachField(
  (info: GraphQLResolveInfo, table: ListTable, path: readonly string[] = []): readonly string[] => {
    let type = objectTypeOf(info.returnType);
    let selections = info.fieldNodes.map(({ selectionSet }) => selectionSet);
    for (const name of path) {
      const inner = selections
        .flatMap((set) => fieldsOf(set, info))
        .filter((field) => field.name.value === name);
      selections = inner.map(({ selectionSet }) => selectionSet);
      type = objectTypeOf(type?.getFields()[name]?.type);
    }
    const names = new Set(selections.flatMap((set) => fieldsOf(set, info)).map((field) => field.name.value));
    const columns = new Set([...names].flatMap((name) => columnsOf(type, name)));
    return Object.keys(table.columns).filter((column) => columns.has(column));
  },
);

/** The names of the fields that are asked of what a field answers. */
export const selectedFields = onceForEachField(
  (info: GraphQLResolveInfo): ReadonlySet<string> =>
    new Set(
      info.fieldNodes
        .flatMap(({ selectionSet }) => fieldsOf(selectionSet, info))
        .map((field) => field.name.value),
    ),
);

/** A document does not change: what is found of a field holds for all parents of it, and for a kept document's next use. */
function onceForEachField<More extends readonly unknown[], Found>(
  find: (info: GraphQLResolveInfo, ...more: More) => Found,
): (info: GraphQLResolveInfo, ...more: More) => Found {
  const found = new WeakMap<FieldNode, Found>();
  return (info, ...more) => {
    const [field, ...others] = info.fieldNodes;
    // A field that stands in several places of the document is what all of them ask together.
    if (field === undefined || others.length > 0) return find(info, ...more);
    const before = found.get(field);
    if (before !== undefined) return before;
    const now = find(info, ...more);
    found.set(field, now);
    return now;
  };
}

/** By its members: a program can hold two copies of the graphql package, and instances are of one of them. */
function objectTypeOf(type: GraphQLOutputType | undefined): GraphQLObjectType | undefined {
  if (type === undefined) return undefined;
  if ('ofType' in type) return objectTypeOf(type.ofType);
  return 'getInterfaces' in type && 'isTypeOf' in type ? type : undefined;
}

function columnsOf(type: GraphQLObjectType | undefined, name: string): readonly string[] {
  const stated: unknown = type?.getFields()[name]?.extensions.columns;
  return Array.isArray(stated) ? stated.map(String) : [name];
}

/** The fields of a selection, those in fragments too. What a directive may leave out is read all the same. */
function fieldsOf(set: SelectionSetNode | undefined, info: GraphQLResolveInfo): FieldNode[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    const isInline = selection.kind === Kind.INLINE_FRAGMENT;
    return fieldsOf((isInline ? selection : info.fragments[selection.name.value])?.selectionSet, info);
  });
}
