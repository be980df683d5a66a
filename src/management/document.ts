import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
import type { DocumentNode } from 'graphql';

/**
 * An operation with the types of what it answers and asks: one of this package's documents, or your own from codegen,
 * whether it writes documents as text (TypedDocumentString) or as trees (TypedDocumentNode).
 */
export type TypedDocument<Data, Variables> = DocumentTypeDecoration<Data, Variables> & object;

/** The arguments after a document: variables may be left out where none is needed. */
export type OperationArguments<Variables, Options> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: Options]
    : [variables: Variables, options?: Options];

/**
 * The data of an answer without errors. The root fields of the schema are nullable so that one that fails leaves its
 * neighbours as they are; null always comes with an error, and errors are thrown.
 */
export type Present<Data> = { [Field in keyof Data]: Exclude<Data[Field], null> };

export type OperationKind = 'query' | 'mutation' | 'subscription';

export interface Operation {
  readonly kind: OperationKind;
  readonly text: string;
}

/** The text of a document, and what it does. */
export async function readDocument(document: object): Promise<Operation> {
  const text = isDocumentNode(document) ? await printDocument(document) : String(document);
  return { kind: kindOf(text), text };
}

/** Loaded when it is needed: most programs have their documents as text. */
async function printDocument(document: DocumentNode): Promise<string> {
  const { print } = await import('graphql/language/printer.js');
  return print(document);
}

const isDocumentNode = (document: object): document is DocumentNode =>
  'kind' in document && document.kind === 'Document' && 'definitions' in document;

/** Texts, block texts and comments: what can hold a bracket or a word that means nothing. */
const opaque = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g;
const innermostBrackets = /\{[^{}()[\]]*\}|\([^{}()[\]]*\)|\[[^{}()[\]]*\]/g;

/**
 * Which kind of operation a document has, by the words outside all brackets. A document that can be taken for a
 * mutation is one: queries are repeated, and a mutation that is repeated may mint keys twice.
 */
export function kindOf(text: string): OperationKind {
  let outside = text.replaceAll(opaque, ' ');
  for (let before = ''; before !== outside; ) {
    before = outside;
    outside = outside.replaceAll(innermostBrackets, ' ');
  }
  const words = new Set(outside.match(/\w+/g));
  if (words.has('mutation')) return 'mutation';
  return words.has('subscription') ? 'subscription' : 'query';
}
