import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql';

/** Documents that are made from the committed schema, so that a field which is added to it is asked for too. */

export const committed = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

type Field = GraphQLField<unknown, unknown>;

/** `Query.me` and its like. */
export const rootFields: ReadonlyMap<string, Field> = new Map(
  [committed.getQueryType(), committed.getMutationType(), committed.getSubscriptionType()].flatMap((type) =>
    type
      ? Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const)
      : [],
  ),
);

const fieldsOf = (type: GraphQLObjectType): Field[] => Object.values(type.getFields());

const objectOf = ({ type }: Field): GraphQLObjectType | null => {
  const named = getNamedType(type);
  return isObjectType(named) ? named : null;
};

/** The type of the nodes of a connection; null for a field of another type. */
function nodeOf(field: Field): GraphQLObjectType | null {
  const type = objectOf(field);
  const edge = type?.name.endsWith('Connection') ? objectOf(fieldNamed(type, 'edges')) : null;
  return edge ? objectOf(fieldNamed(edge, 'node')) : null;
}

function fieldNamed(type: GraphQLObjectType, name: string): Field {
  const field = type.getFields()[name];
  if (field === undefined) throw new Error(`${type.name} has no field ${name}`);
  return field;
}

/** Something that lists hang on, or that a cycle of relations leads back to: an application, a license, a user. */
function isThing(type: GraphQLObjectType): boolean {
  const seen = new Set<GraphQLObjectType>();
  const visit = (from: GraphQLObjectType): boolean =>
    fieldsOf(from).some((field) => {
      const next = nodeOf(field) ?? objectOf(field);
      if (next === null || seen.has(next)) return false;
      seen.add(next);
      return next === type || visit(next);
    });
  return fieldsOf(type).some((field) => nodeOf(field) !== null) || visit(type);
}

/** A field that leads from one thing to others. */
export interface Relation {
  readonly field: Field;
  readonly target: GraphQLObjectType;
  readonly isList: boolean;
}

export const relationsOf = (type: GraphQLObjectType): Relation[] =>
  fieldsOf(type).flatMap((field): Relation[] => {
    const node = nodeOf(field);
    if (node !== null) return [{ field, target: node, isList: true }];
    const target = objectOf(field);
    return target !== null && isThing(target) ? [{ field, target, isList: false }] : [];
  });

/** What a type tells by itself. */
function ownFields(type: GraphQLObjectType): string {
  const relations = new Set(relationsOf(type).map(({ field }) => field));
  return fieldsOf(type)
    .filter((field) => !relations.has(field))
    .map((field) => {
      const target = objectOf(field);
      return target === null ? field.name : `${field.name} { ${ownFields(target)} }`;
    })
    .join(' ');
}

const follow = ({ field, isList }: Relation, first: number, selection: string): string =>
  isList
    ? `${field.name}(first: ${first}) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        edges { cursor node { ${selection} } } }`
    : `${field.name} { ${selection} }`;

/** All that a type tells, and its relations as far as so many of them lead. */
export function bushOf(type: GraphQLObjectType, hops: number, first = 3): string {
  const relations = hops === 0 ? [] : relationsOf(type);
  return [
    ownFields(type),
    ...relations.map((relation) => follow(relation, first, bushOf(relation.target, hops - 1, first))),
  ].join('\n');
}

/** Every path of so many relations from a type, as a selection each, that tells all that each thing on it has. */
export function pathsFrom(type: GraphQLObjectType, hops: number): string[] {
  const walk = (from: GraphQLObjectType, left: number): Relation[][] => {
    const relations = left === 0 ? [] : relationsOf(from);
    return relations.length === 0
      ? [[]]
      : relations.flatMap((relation) => walk(relation.target, left - 1).map((rest) => [relation, ...rest]));
  };
  return walk(type, hops).map((path) => {
    const first = placesOf[path.filter(({ isList }) => isList).length] ?? 1;
    const select = (from: GraphQLObjectType, [next, ...rest]: Relation[]): string =>
      next === undefined
        ? ownFields(from)
        : `${ownFields(from)} ${follow(next, first, select(next.target, rest))}`;
    return select(type, path);
  });
}

/** How many rows of each list to ask for, by how many lists lie in one another: the limit of complexity holds. */
const placesOf = [50, 50, 8, 4];

/** A root field: `Query.license`, or `Query.node on License` where the field can be of several types. */
function rootField(name: string): { readonly field: Field; readonly on: GraphQLObjectType | null } {
  const [fieldName = '', typeName = ''] = name.split(' on ');
  const field = rootFields.get(fieldName);
  if (field === undefined) throw new Error(`There is no field ${name}`);
  const type = committed.getType(typeName);
  return { field, on: isObjectType(type) ? type : null };
}

/** An operation of one root field, with all of its arguments as variables. */
export function operationOf(
  name: string,
  selectionOf = (type: GraphQLObjectType) => bushOf(type, 1),
): string {
  const { field, on } = rootField(name);
  const kind = name.slice(0, name.indexOf('.')).toLowerCase();
  const variables = field.args.map((argument) => `$${argument.name}: ${String(argument.type)}`);
  const passed = field.args.map((argument) => `${argument.name}: $${argument.name}`);
  const list = (parts: string[]) => (parts.length === 0 ? '' : `(${parts.join(', ')})`);
  const type = getNamedType(field.type);
  const selection = on
    ? `{ __typename ... on ${on.name} { ${selectionOf(on)} } }`
    : isLeafType(type) || !isObjectType(type)
      ? ''
      : `{ ${selectionOf(type)} }`;
  return `${kind} ${list(variables)} { ${field.name}${list(passed)} ${selection} }`;
}

/** The type that a root field answers. */
export function typeOf(name: string): GraphQLObjectType {
  const { field, on } = rootField(name);
  const object = on ?? objectOf(field);
  if (!object) throw new Error(`${name} does not answer an object`);
  return object;
}
