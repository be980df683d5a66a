import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { ListTable } from '../services/list-source.ts';

/** Options of a field that is not the column of the same name: the columns that it is resolved from, if any. */
export const reads = (...columns: readonly string[]) => ({ extensions: { columns } });

/**
 * The columns that the selection of a field reads.
 * @param path the fields from this one to the rows, such as `['edges', 'node']` of a connection
 */
export const selectedColumns = onceForEachField(
  (
    info: GraphQLResolveInfo,
    table: Pick<ListTable, 'columns'>,
    path: readonly string[] = [],
  ): readonly string[] => {
    let types = objectTypesOf(info.returnType, info);
    let selections = info.fieldNodes.map(({ selectionSet }) => selectionSet);
    for (const name of path) {
      const inner = selections
        .flatMap((set) => fieldsOf(set, info))
        .filter((field) => field.name.value === name);
      selections = inner.map(({ selectionSet }) => selectionSet);
      types = types.flatMap((type) => objectTypesOf(type.getFields()[name]?.type, info));
    }
    const names = new Set(selections.flatMap((set) => fieldsOf(set, info)).map((field) => field.name.value));
    const columns = new Set([...names].flatMap((name) => types.flatMap((type) => columnsOf(type, name))));
    return Object.keys(table.columns).filter((column) => columns.has(column));
  },
);

/** The names of the fields in the selection of a field. */
export const selectedFields: (info: GraphQLResolveInfo) => ReadonlySet<string> = (info) =>
  fieldNamesOf(info, null);

const fieldNamesOf = onceForEachField(
  (info: GraphQLResolveInfo, _key: null): ReadonlySet<string> =>
    new Set(
      info.fieldNodes
        .flatMap(({ selectionSet }) => fieldsOf(selectionSet, info))
        .map((field) => field.name.value),
    ),
);

/**
 * Documents do not change: what is found for a field holds for all its parents, and for the next use of a kept document. A
 * field of an interface, such as `node`, leads to a row of another table each time, so `key` is part of what is kept.
 */
function onceForEachField<Key, More extends readonly unknown[], Found>(
  find: (info: GraphQLResolveInfo, key: Key, ...more: More) => Found,
): (info: GraphQLResolveInfo, key: Key, ...more: More) => Found {
  const found = new WeakMap<FieldNode, Map<Key, Found>>();
  return (info, key, ...more) => {
    const [field, ...others] = info.fieldNodes;
    // A field in several places of the document has the selections of all of them.
    if (field === undefined || others.length > 0) return find(info, key, ...more);
    const ofField = found.get(field) ?? new Map<Key, Found>();
    found.set(field, ofField);
    const before = ofField.get(key);
    if (before !== undefined) return before;
    const now = find(info, key, ...more);
    ofField.set(key, now);
    return now;
  };
}

/** An object type, or those of an interface. By their members: a program can have two copies of the graphql package. */
function objectTypesOf(
  type: GraphQLOutputType | undefined,
  info: GraphQLResolveInfo,
): readonly GraphQLObjectType[] {
  if (type === undefined) return [];
  if ('ofType' in type) return objectTypesOf(type.ofType, info);
  if ('resolveType' in type) return info.schema.getPossibleTypes(type);
  return 'isTypeOf' in type ? [type] : [];
}

function columnsOf(type: GraphQLObjectType, name: string): readonly string[] {
  const stated: unknown = type.getFields()[name]?.extensions.columns;
  return Array.isArray(stated) ? stated.map(String) : [name];
}

/** The fields of a selection, including those of fragments, and those that a directive may leave out. */
function fieldsOf(set: SelectionSetNode | undefined, info: GraphQLResolveInfo): FieldNode[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection];
    const isInline = selection.kind === Kind.INLINE_FRAGMENT;
    return fieldsOf((isInline ? selection : info.fragments[selection.name.value])?.selectionSet, info);
  });
}
