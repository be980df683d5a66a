import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLID,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getArgumentValues,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
  visit,
} from 'graphql/index.js';

import { ResolveTogether } from './resolve-together.ts';

/** What a query asks, looked up in the schema once, so that no use of it looks anything up again. */
export interface QueryPlan {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly root: ObjectPlan;
}

export interface ObjectPlan {
  /** In the order of the answer's members. */
  readonly fields: readonly FieldPlan[];
  /** What is copied for each object of the answer: all of its members, `__proto__` too, and none of them set. */
  readonly blank: Readonly<Record<string, unknown>>;
}

export interface FieldPlan {
  /** The member of the answer: the alias, or the name. */
  readonly responseName: string;
  readonly parentType: ParentType;
  readonly definition: Definition;
  readonly resolve: NonNullable<Definition['resolve']>;
  /** For all parents at once; null when there is no such way. */
  readonly together: ResolveTogether<unknown, unknown, unknown> | null;
  /** Every place of the document that asks for the field here: one array for all parents and all uses. */
  readonly nodes: FieldNodes;
  /** The arguments of a field that resolves together, where no variable stands in them: one object for all uses. */
  readonly given: Readonly<Record<string, unknown>> | null;
  readonly value: ValuePlan;
}

export type ValuePlan = LeafPlan | ObjectValuePlan | ListPlan;

export interface LeafPlan {
  readonly kind: 'leaf';
  readonly isNullable: boolean;
  readonly type: GraphQLLeafType;
  /** Whether a string stands for itself. */
  readonly isText: boolean;
}

interface ObjectValuePlan {
  readonly kind: 'object';
  readonly isNullable: boolean;
  readonly object: ObjectPlan;
}

interface ListPlan {
  readonly kind: 'list';
  readonly isNullable: boolean;
  readonly item: ValuePlan;
}

const textTypes: ReadonlySet<GraphQLLeafType> = new Set([GraphQLString, GraphQLID]);

type ParentType = GraphQLObjectType<unknown, unknown>;
type Definition = GraphQLField<unknown, unknown>;
type FieldNodes = readonly [FieldNode, ...FieldNode[]];

/** The most fields of a document's plan. Fragments make a thousand times that of a short text, and plans are kept. */
const mostFields = 500;

/**
 * Plans the query of a valid document. Null for what is left to the executor: mutations and subscriptions, documents of
 * several operations (hundreds fit into a short text, and each would have a plan), introspection, directives, fields with a rate limit (a query that is begun anew would draw on it twice), types that are no object,
 * and what has too many fields. A plan is data that names resolvers; nothing of a document ever becomes code.
 */
export function planQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): QueryPlan | null {
  const type = schema.getQueryType();
  if (operation.operation !== 'query' || !type || hasSeveralOperations(document) || hasDirective(document))
    return null;
  const fragments = Object.fromEntries(
    document.definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  try {
    const root = createPlanner(schema, fragments)(type, [operation.selectionSet]);
    return { schema, operation, fragments, root };
  } catch (error) {
    if (error instanceof NotPlanned) return null;
    throw error;
  }
}

class NotPlanned extends Error {}

const hasSeveralOperations = ({ definitions }: DocumentNode): boolean =>
  definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length > 1;

function hasDirective(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive: () => {
      found = true;
    },
  });
  return found;
}

const hasVariable = ({ arguments: given = [] }: FieldNode): boolean => {
  let found = false;
  const Variable = () => {
    found = true;
  };
  for (const argument of given) visit(argument, { Variable });
  return found;
};

function argumentsOf(definition: Definition, node: FieldNode): Readonly<Record<string, unknown>> {
  try {
    return getArgumentValues(definition, node);
  } catch {
    throw new NotPlanned();
  }
}

function createPlanner(schema: GraphQLSchema, fragments: QueryPlan['fragments']) {
  let fieldsLeft = mostFields;

  const planObject = (type: ParentType, selections: readonly SelectionSetNode[]): ObjectPlan => {
    if (type.isTypeOf) throw new NotPlanned();
    const asked = new Map<string, [FieldNode, ...FieldNode[]]>();
    const spread = new Set<string>();
    for (const selection of selections) collect(selection, type, asked, spread);
    return {
      fields: [...asked].map(([responseName, nodes]) => planField(responseName, nodes, type)),
      blank: Object.fromEntries([...asked.keys()].map((responseName) => [responseName, null])),
    };
  };

  /** Gathers the fields of a selection by response name (GraphQL, "Collecting Fields"), a fragment's once. */
  const collect = (
    { selections }: SelectionSetNode,
    type: ParentType,
    asked: Map<string, [FieldNode, ...FieldNode[]]>,
    spread: Set<string>,
  ): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const responseName = (selection.alias ?? selection.name).value;
        const nodes = asked.get(responseName);
        if (nodes === undefined) asked.set(responseName, [selection]);
        else nodes.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if ((selection.typeCondition?.name.value ?? type.name) !== type.name) throw new NotPlanned();
        collect(selection.selectionSet, type, asked, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments[selection.name.value];
        if (fragment?.typeCondition.name.value !== type.name) throw new NotPlanned();
        collect(fragment.selectionSet, type, asked, spread);
      }
    }
  };

  const planField = (responseName: string, nodes: FieldNodes, parentType: ParentType): FieldPlan => {
    fieldsLeft -= 1;
    const name = nodes[0].name.value;
    const definition =
      name === TypeNameMetaFieldDef.name ? TypeNameMetaFieldDef : parentType.getFields()[name];
    if (fieldsLeft < 0 || definition === undefined || definition.extensions.rateLimitName !== undefined)
      throw new NotPlanned();
    const { resolve = defaultFieldResolver, extensions } = definition;
    // The root is one parent, and its fields are closed in their resolvers (closed-fields.ts).
    const isRoot = parentType === schema.getQueryType();
    const together = !isRoot && extensions.together instanceof ResolveTogether ? extensions.together : null;
    const value = planValue(definition.type, nodes);
    const given = together === null || hasVariable(nodes[0]) ? null : argumentsOf(definition, nodes[0]);
    return { responseName, parentType, definition, resolve, together, nodes, given, value };
  };

  const planValue = (type: GraphQLOutputType, nodes: FieldNodes, isNullable = true): ValuePlan => {
    if (isNonNullType(type)) return planValue(type.ofType, nodes, false);
    if (isListType(type)) return { kind: 'list', item: planValue(type.ofType, nodes), isNullable };
    if (isLeafType(type)) return { kind: 'leaf', type, isNullable, isText: textTypes.has(type) };
    if (!isObjectType(type)) throw new NotPlanned();
    const selections = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return { kind: 'object', object: planObject(type, selections), isNullable };
  };

  return planObject;
}
