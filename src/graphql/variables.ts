import { getVariableValues } from '@graphql-tools/executor';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type VariableDefinitionNode,
} from 'graphql';
import { createGraphQLError } from 'graphql-yoga';

/** How many faults are told of variables that are few enough, as JSON, for one of them to be repeated in each. */
const mostFaults = 50;
const smallVariables = 10_000;
/** What is told of a fault, in characters: its beginning names the variable, its end the place and the reason. */
const told = { beginning: 100, end: 300 };

/**
 * What is wrong with an operation's variables, in the words of the executor, which would find it as well. But those
 * repeat a whole value for each fault in it: a body of a few megabytes would be answered with hundreds. Of large
 * variables one fault is told, and of each no more than a few hundred characters.
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
  return (isSmall ? find(mostFaults) : [first]).map(shorten);
}

function shorten({ message, nodes }: GraphQLError): GraphQLError {
  const { beginning, end } = told;
  const isLong = message.length > beginning + end;
  return fault(isLong ? `${message.slice(0, beginning)} … ${message.slice(-end)}` : message, nodes);
}

/** How many variables that are not declared are named, and how much of a name. */
const named = { variables: 20, characters: 100 } as const;

/**
 * Variables that the document declares nowhere. GraphQL passes them over, so that one that is misspelt in the request
 * reads as one that was left out. Those of another operation of the document are fine: an editor sends one set of
 * variables for all of them.
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

/** As for other documents that are not executed, the status is 200, or 400 for those who ask for GraphQL's own type. */
const fault = (message: string, nodes?: GraphQLError['nodes']): GraphQLError =>
  createGraphQLError(message, {
    nodes,
    extensions: { code: 'BAD_REQUEST', http: { spec: true, status: 400 } },
  });
