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

/**
 * The most that one document may ask. The README of this folder says what each is for; a change there and in
 * `codes` is a change for clients.
 */
export const queryLimits = {
  /** Lexical tokens of the document: names, values and punctuation, not comments. */
  tokens: 2000,
  /** Lines of the document: each error of it counts them anew, to tell its place. */
  lines: 2000,
  /** Fragments that the document defines. GraphQL's own validation compares each with every other. */
  fragments: 50,
  /** Aliases of an operation, counted wherever a fragment that has them is spread; ten times in introspection. */
  aliases: 50,
  /** Fields at the root of an operation. Of mutations, each is carried out. */
  rootFields: 50,
  /** Levels of fields, one within another; those of introspection are not counted. */
  depth: 12,
  /** Fields that an operation can be answered with, at the most: what is in a list counts for each place in it. */
  complexity: 20_000,
} as const;

/** The code of a document that goes beyond each of the limits. */
const codes = {
  tokens: 'QUERY_TOO_LARGE',
  lines: 'QUERY_TOO_LARGE',
  fragments: 'QUERY_TOO_LARGE',
  aliases: 'QUERY_TOO_WIDE',
  rootFields: 'QUERY_TOO_WIDE',
  depth: 'QUERY_TOO_DEEP',
  complexity: 'QUERY_TOO_COMPLEX',
} as const satisfies Record<keyof typeof queryLimits, string>;

/** Fragments can double a count often enough for it to have sixty digits. */
const amount = (number: number) =>
  number > 1e9 ? 'more than 1,000,000,000' : number.toLocaleString('en-US');

/** What each refusal says: the limit, and what to do. */
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
 * Refuses a document that asks too much, before any resolver runs and any rate limit is drawn on. What can be told by
 * its text alone is told before GraphQL's own validation, whose cost grows with the square of the document.
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

/** The parser's refusal has no code; its words are those of the version that package.json pins. */
const isTokenLimit = ({ message }: Error) =>
  /^Syntax Error: Document contains more tha[nt] \d+ tokens/.test(message);

/** Validation has a limit of its own to the fields of one name that it compares, and says no more than this. */
const isComparisonLimit = ({ message }: Error) => message === 'Validation aborted.';

const tooRepetitive =
  'The document asks for fields of the same name too often to compare them all. Ask for each once where it is needed.';

/** Documents that keep within what can be told by their text: one that is kept is not measured again. */
const smallEnough = new WeakSet<DocumentNode>();

/** Finds a limit that any of the document's operations goes beyond, by its text alone. */
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

/** Looks at the operation that is about to be executed, with its variables: each field has its cost in the schema. */
function checkOperation({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionArgs): readonly GraphQLError[] {
  const operation = getOperationAST(document, operationName);
  const variables = variableValues ?? {};
  // What is wrong with the name the executor finds in the same way, and says.
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

/** No cost hangs on an id, so that an operation with no other variables always costs the same. */
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

/** As for other documents that are not executed, the status is 200, or 400 for those who ask for GraphQL's own type. */
const refusal = (code: string, message: string): GraphQLError =>
  createGraphQLError(message, { extensions: { code, http: { spec: true, status: 400 } } });
