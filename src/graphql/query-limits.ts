import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  GraphQLID,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
} from 'graphql';
import { createGraphQLError, type Plugin } from 'graphql-yoga';
import { measureSelections } from './document-metrics.ts';
import { findUndeclaredVariables, findVariableFaults } from './variables.ts';

/** The limits of a document. The README of this folder explains them; clients know them and the codes below. */
export const queryLimits = {
  /** Lexical tokens: names, values and punctuation, not comments. */
  tokens: 2000,
  /** Lines of the document. Each error counts them again to find its location. */
  lines: 2000,
  /** Fragments that the document defines. GraphQL's validation compares each with every other one. */
  fragments: 50,
  /** Aliases of an operation: those of a fragment count each time it is spread, those in introspection ten times. */
  aliases: 50,
  /** Root fields of an operation. Each mutation among them is executed. */
  rootFields: 50,
  /** Levels of nested fields, not counting introspection. */
  depth: 12,
  /** Fields that the answer can have at most: fields in a list count for each possible item. */
  complexity: 20_000,
} as const;

/** The error code of each limit. */
const codes = {
  tokens: 'QUERY_TOO_LARGE',
  lines: 'QUERY_TOO_LARGE',
  fragments: 'QUERY_TOO_LARGE',
  aliases: 'QUERY_TOO_WIDE',
  rootFields: 'QUERY_TOO_WIDE',
  depth: 'QUERY_TOO_DEEP',
  complexity: 'QUERY_TOO_COMPLEX',
} as const satisfies Record<keyof typeof queryLimits, string>;

/** Nested fragments can double a count until it has sixty digits. */
const amount = (number: number) =>
  number > 1e9 ? 'more than 1,000,000,000' : number.toLocaleString('en-US');

/** The message of each limit: the limit, and what to do. */
const messages: Record<keyof typeof queryLimits, (found: number) => string> = {
  tokens: () =>
    `The document is longer than ${amount(queryLimits.tokens)} tokens. Pass values as variables, or split it into several requests.`,
  lines: () =>
    `The document has more than ${amount(queryLimits.lines)} lines. Leave out empty ones, or split it into several requests.`,
  fragments: (found) =>
    `The document defines ${amount(found)} fragments, more than ${queryLimits.fragments}. Merge some, or split it into several requests.`,
  aliases: (found) =>
    `The operation has ${amount(found)} aliases, more than ${queryLimits.aliases}; those in a fragment count each time it is spread, and those in introspection ten times. Split it into several requests.`,
  rootFields: (found) =>
    `The operation has ${amount(found)} root fields, more than ${queryLimits.rootFields}. Split it into several requests.`,
  depth: (found) =>
    `The operation nests ${amount(found)} levels of fields, more than ${queryLimits.depth}. Ask for what is deeper in a second request, by its id.`,
  complexity: (found) =>
    `The operation can be answered with ${amount(found)} fields, more than ${amount(queryLimits.complexity)}; a field in a list counts for each place in it. Ask for shorter lists with first or last, for fewer fields, or in several requests.`,
};

/**
 * Refuses a document that exceeds a limit, before any resolver runs and any rate limit is charged. Limits on the text are
 * checked before GraphQL's validation, whose cost grows with the square of the document.
 */
export const refuseLargeQueries: Plugin = {
  onParse: ({ parseFn, setParseFn }) => {
    setParseFn((source: string, options) => {
      if (source.split(/\r\n|[\n\r]/, queryLimits.lines + 1).length > queryLimits.lines)
        throw tooMuch('lines');
      return parseFn(source, { ...options, maxTokens: queryLimits.tokens });
    });
    return ({ result, replaceParseResult }) => {
      if (result instanceof Error && isTokenLimit(result)) replaceParseResult(tooMuch('tokens'));
    };
  },
  onValidate: ({ params: { documentAST }, setResult }) => {
    if (!smallEnough.has(documentAST)) {
      const error = checkText(documentAST);
      if (error === undefined) smallEnough.add(documentAST);
      else setResult([error]);
    }
    return ({ result, setResult }) => {
      if (result.some(isComparisonLimit)) setResult([refusal('QUERY_TOO_LARGE', tooRepetitive)]);
    };
  },
  onExecute: refuseComplex,
  onSubscribe: refuseComplex,
};

function refuseComplex({
  args,
  setResultAndStopExecution,
}: {
  args: ExecutionArgs;
  setResultAndStopExecution: (result: ExecutionResult) => void;
}): void {
  const errors = checkOperation(args);
  if (errors.length > 0) setResultAndStopExecution({ errors });
}

/** The parser's error has no code. The message is that of the version that package.json pins. */
const isTokenLimit = ({ message }: Error) =>
  /^Syntax Error: Document contains more tha[nt] \d+ tokens/.test(message);

/** Validation has its own limit to the fields of one name that it compares; its error has only this message. */
const isComparisonLimit = ({ message }: Error) => message === 'Validation aborted.';

const tooRepetitive =
  'The document asks for fields of the same name too often to compare them all. Ask for each once where it is needed.';

/** Documents whose text is within the limits, so that a kept document is not measured again. */
const smallEnough = new WeakSet<DocumentNode>();

/** Finds a limit on the text that one of the document's operations exceeds. */
function checkText(document: DocumentNode): GraphQLError | undefined {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION).length;
  if (fragments > queryLimits.fragments) return tooMuch('fragments', fragments);
  for (const { aliases, rootFields, depth } of measureSelections(document)) {
    if (rootFields > queryLimits.rootFields) return tooMuch('rootFields', rootFields);
    if (aliases > queryLimits.aliases) return tooMuch('aliases', aliases);
    if (depth > queryLimits.depth) return tooMuch('depth', depth);
  }
  return undefined;
}

/** Checks the operation with its variables before execution. The schema states the cost of each field. */
function checkOperation({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionArgs): readonly GraphQLError[] {
  const operation = getOperationAST(document, operationName);
  const variables = variableValues ?? {};
  // The executor reports a wrong operation name.
  if (!operation) return [];
  const undeclared = findUndeclaredVariables(document, variables);
  if (undeclared.length > 0) return undeclared;
  const faults = findVariableFaults(schema, operation.variableDefinitions ?? [], variables);
  if (faults.length > 0) return faults;
  const complexity = complexityOf(operation, () => {
    const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    return complexityFromQuery(
      { ...document, definitions: [operation, ...fragments] },
      {
        schema,
        variables,
        ...(typeof contextValue === 'object' && contextValue !== null && { ctx: contextValue }),
      },
    ).complexity;
  });
  return complexity > queryLimits.complexity ? [tooMuch('complexity', complexity)] : [];
}

const complexities = new WeakMap<OperationDefinitionNode, number>();

/** No cost depends on an id, so an operation whose variables are all ids always costs the same. */
function complexityOf(operation: OperationDefinitionNode, measure: () => number): number {
  if (!operation.variableDefinitions?.every(({ type }) => isId(type))) return measure();
  const complexity = complexities.get(operation) ?? measure();
  complexities.set(operation, complexity);
  return complexity;
}

const isId = (type: TypeNode): boolean =>
  type.kind === Kind.NAMED_TYPE
    ? type.name.value === GraphQLID.name
    : type.kind === Kind.NON_NULL_TYPE && isId(type.type);

const tooMuch = (limit: keyof typeof queryLimits, found = Infinity): GraphQLError =>
  refusal(codes[limit], messages[limit](found));

/** As for other documents that are not executed: status 400 for `application/graphql-response+json`, 200 otherwise. */
const refusal = (code: string, message: string): GraphQLError =>
  createGraphQLError(message, { extensions: { code, http: { spec: true, status: 400 } } });
