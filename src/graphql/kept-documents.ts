import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { GraphqlContext } from './context.ts';

/** What is kept of documents: parsed, one takes some fifty times the memory of its text. */
const limits = {
  documents: 100,
  /** Of all documents together, and of the longest that is kept; in UTF-16 units. */
  characters: 200_000,
  longest: 8_000,
} as const;

/**
 * Spares parsing and validating the same document each time it is asked: a dashboard sends a few dozen of them, over
 * and over.
 *
 * Developers' documents alone are kept, and few of them: whoever is nobody could fill the memory. Limits that depend
 * on variables are asked every time (query-limits.ts).
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
