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
  (info: GraphQLResolveInfo, table: ListTable, path: readonly string[] = []): readonly string[] => {
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
export const selectedFields = onceForEachField(
  (info: GraphQLResolveInfo): ReadonlySet<string> =>
    new Set(
      info.fieldNodes
        .flatMap(({ selectionSet }) => fieldsOf(selectionSet, info))
        .map((field) => field.name.value),
    ),
);

/** Documents do not change: what is found for a field holds for all its parents, and for the next use of a kept document. */
function onceForEachField<More extends readonly unknown[], Found>(
  find: (info: GraphQLResolveInfo, ...more: More) => Found,
): (info: GraphQLResolveInfo, ...more: More) => Found {
  const found = new WeakMap<FieldNode, Found>();
  return (info, ...more) => {
    const [field, ...others] = info.fieldNodes;
    // A field in several places of the document has the selections of all of them.
    if (field === undefined || others.length > 0) return find(info, ...more);
    const before = found.get(field);
    if (before !== undefined) return before;
    const now = find(info, ...more);
    found.set(field, now);
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
