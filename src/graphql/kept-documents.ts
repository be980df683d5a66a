import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  type SourceLocation,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { createGraphQLError, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { isCompilable } from './compilable.ts';
import type { GraphqlContext } from './context.ts';
import { oneErrorForEachNull } from './errors-of-nulls.ts';

/** What is kept of documents. Parsed, one takes some fifty times the memory of its text; compiled, as much again. */
const limits = {
  documents: 100,
  /** Of all documents together, and of the longest that is kept; in UTF-16 units. */
  characters: 200_000,
  longest: 8_000,
} as const;

/** A query is compiled when it is asked for the so many-th time: what is asked once would not repay it. */
const compiledFromUse = 3;

type Compiled = Pick<CompiledQuery, 'query'>;

interface KeptDocument {
  uses: number;
  readonly document: DocumentNode;
  /** Undefined until it is tried, null when it cannot be. */
  compiled: Compiled | null | undefined;
}

/**
 * Spares the work that the same document needs each time it is asked: a dashboard sends a few dozen of them, over and
 * over. They are parsed and validated once, and queries are compiled, which answers a long list in a quarter of the
 * CPU and a fraction of the garbage.
 *
 * Developers' documents alone are kept, and few of them: whoever is nobody could fill the memory. Limits that depend
 * on variables are asked every time (query-limits.ts).
 */
export function keepDocuments(): Plugin<GraphqlContext> {
  const kept = new LRUCache<string, KeptDocument>({
    max: limits.documents,
    maxSize: limits.characters,
    sizeCalculation: (_document, text) => text.length,
  });
  const byDocument = new WeakMap<DocumentNode, KeptDocument>();
  return {
    onParse: ({ params: { source }, setParsedDocument }) => {
      const known = typeof source === 'string' ? kept.get(source) : undefined;
      if (known !== undefined) setParsedDocument(known.document);
    },
    onValidate: ({ context, params: { documentAST: document }, setResult }) => {
      if (byDocument.has(document)) {
        setResult([]);
        return undefined;
      }
      return ({ valid }) => {
        const text = document.loc?.source.body;
        if (!valid || text === undefined || text.length > limits.longest || !isOfDeveloper(context)) return;
        const entry = { uses: 0, document, compiled: undefined };
        kept.set(text, entry);
        byDocument.set(document, entry);
      };
    },
    onExecute: ({ args: { schema, document, operationName }, setExecuteFn }) => {
      const entry = byDocument.get(document);
      if (entry === undefined) return undefined;
      entry.uses += 1;
      if (entry.uses >= compiledFromUse && entry.compiled === undefined)
        entry.compiled = compile(schema, document);
      const { compiled } = entry;
      // A name that is not the operation's own is an error, which the executor tells.
      if (compiled && getOperationAST(document, operationName)) {
        setExecuteFn(async ({ rootValue, contextValue, variableValues }) =>
          withPlaces(await compiled.query(rootValue, contextValue, variableValues), document),
        );
      }
      return {
        // Whether it was compiled makes no difference to what an answer tells.
        onExecuteDone: ({ result, setResult }) => {
          if (!isAsyncIterable(result)) setResult(oneErrorForEachNull(result));
        },
      };
    },
  };
}

/** Errors of a compiled query know line and column alone; what passes errors on goes by the offset in the text. */
function withPlaces(result: ExecutionResult, { loc }: DocumentNode): ExecutionResult {
  if (result.errors === undefined || loc === undefined) return result;
  const { source } = loc;
  const lineStarts = [
    0,
    ...[...source.body.matchAll(/\r\n|[\n\r]/g)].map(({ 0: end, index }) => index + end.length),
  ];
  const offsetOf = ({ line, column }: SourceLocation) => (lineStarts[line - 1] ?? 0) + column - 1;
  const errors = result.errors.map(({ message, locations, path, originalError }) =>
    createGraphQLError(message, { source, positions: locations?.map(offsetOf), path, originalError }),
  );
  return { errors, data: result.data ?? null };
}

const isOfDeveloper = ({ service }: GraphqlContext): boolean => service.actor.type === 'developer';

function compile(schema: GraphQLSchema, document: DocumentNode): Compiled | null {
  if (!isCompilable(document)) return null;
  const compiled = compileQuery(schema, document);
  return isCompiledQuery(compiled) ? compiled : null;
}
