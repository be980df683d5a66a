import { getVariableValues } from '@graphql-tools/executor';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type VariableDefinitionNode,
} from 'graphql';
import { createGraphQLError } from 'graphql-yoga';

/** The number of errors that are reported for small variables, of this many characters of JSON. */
const maxFaults = 50;
const smallVariables = 10_000;
/** The parts of a long message that are kept, in characters: its start names the variable, its end the reason. */
const told = { beginning: 100, end: 300 };

/**
 * The errors of an operation's variables, with the messages of the executor, but limited. The executor repeats the whole
 * value in each error, so a body of a few megabytes would be answered with hundreds of megabytes. Large variables are
 * answered with one error, and each message with a few hundred characters.
 */
export function findVariableFaults(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const find = (maxErrors: number) =>
    getVariableValues(schema, definitions, variables, { maxErrors }).errors ?? [];
  const [first] = find(1);
  if (first === undefined) return [];
  const isSmall = JSON.stringify(variables).length <= smallVariables;
  return (isSmall ? find(maxFaults) : [first]).map(shorten);
}

function shorten({ message, nodes }: GraphQLError): GraphQLError {
  const { beginning, end } = told;
  const isLong = message.length > beginning + end;
  return fault(isLong ? `${message.slice(0, beginning)} … ${message.slice(-end)}` : message, nodes);
}

/** The number of undeclared variables that are reported, and the length of their names. */
const named = { variables: 20, characters: 100 } as const;

/**
 * The errors of variables that the document does not declare. GraphQL ignores them, so a misspelt variable would count as
 * omitted. Variables of other operations of the document are accepted: an editor sends the same variables for all of them.
 */
export function findUndeclaredVariables(
  { definitions }: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): readonly GraphQLError[] {
  const given = Object.keys(variables);
  if (given.length === 0) return [];
  const declared = new Set(
    definitions.flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION
        ? (definition.variableDefinitions ?? []).map(({ variable }) => variable.name.value)
        : [],
    ),
  );
  return given
    .filter((name) => !declared.has(name))
    .slice(0, named.variables)
    .map((name) =>
      fault(
        `Variable "$${name.slice(0, named.characters)}" is not declared by the document. Is it misspelt? Declare it, or leave it out.`,
      ),
    );
}

/** As for other documents that are not executed: status 400 for `application/graphql-response+json`, 200 otherwise. */
const fault = (message: string, nodes?: GraphQLError['nodes']): GraphQLError =>
  createGraphQLError(message, {
    nodes,
    extensions: { code: 'BAD_REQUEST', http: { spec: true, status: 400 } },
  });
