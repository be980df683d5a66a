import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { GraphqlContext } from './context.ts';

/** The limits of the cache. A parsed document takes about fifty times the memory of its text. */
const limits = {
  documents: 100,
  /** Of all documents together, and of the longest one; in UTF-16 units. */
  characters: 200_000,
  longest: 8_000,
} as const;

/**
 * Caches parsed and validated documents: a dashboard sends a few dozen of them again and again.
 *
 * Only documents of authenticated developers are cached, because unauthenticated callers could fill the cache. Limits
 * that depend on variables are checked every time (query-limits.ts).
 */
export function keepDocuments(): Plugin<GraphqlContext> {
  const kept = new LRUCache<string, DocumentNode>({
    max: limits.documents,
    maxSize: limits.characters,
    sizeCalculation: (_document, text) => text.length,
  });
  const valid = new WeakSet<DocumentNode>();
  return {
    onParse: ({ params: { source }, setParsedDocument }) => {
      const known = typeof source === 'string' ? kept.get(source) : undefined;
      if (known !== undefined) setParsedDocument(known);
    },
    onValidate: ({ context, params: { documentAST: document }, setResult }) => {
      if (valid.has(document)) {
        setResult([]);
        return undefined;
      }
      return ({ valid: isValid }) => {
        const text = document.loc?.source.body;
        if (!isValid || text === undefined || text.length > limits.longest || !isOfDeveloper(context)) return;
        kept.set(text, document);
        valid.add(document);
      };
    },
  };
}

const isOfDeveloper = ({ service }: GraphqlContext): boolean => service.actor.type === 'developer';
