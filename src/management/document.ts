import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
import type { DocumentNode } from 'graphql';

/**
 * An operation with its data and variable types: one of this package's documents, or your own from codegen, as text
 * (TypedDocumentString) or as an AST (TypedDocumentNode).
 */
export type TypedDocument<Data, Variables> = DocumentTypeDecoration<Data, Variables> & object;

/** The arguments after a document. Variables are optional if the operation requires none. */
export type OperationArguments<Variables, Options> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: Options]
    : [variables: Variables, options?: Options];

/**
 * The data of a response without errors: root fields without null. The schema's root fields are nullable so that one
 * failing field does not null the others, but a null always comes with an error, and errors are thrown.
 */
export type Present<Data> = { [Field in keyof Data]: Exclude<Data[Field], null> };

export type OperationKind = 'query' | 'mutation' | 'subscription';

export interface Operation {
  readonly kind: OperationKind;
  readonly text: string;
}

/** Reads a document's text and operation kind. */
export async function readDocument(document: object): Promise<Operation> {
  const text = isDocumentNode(document) ? await printDocument(document) : String(document);
  return { kind: kindOf(text), text };
}

/** Loads the printer on demand: most programs use documents as text. */
async function printDocument(document: DocumentNode): Promise<string> {
  const { print } = await import('graphql/language/printer.js');
  return print(document);
}

const isDocumentNode = (document: object): document is DocumentNode =>
  'kind' in document && document.kind === 'Document' && 'definitions' in document;

/** Strings, block strings and comments, whose brackets and words must be ignored. */
const opaque = /"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|#[^\n\r]*/g;
const innermostBrackets = /\{[^{}()[\]]*\}|\([^{}()[\]]*\)|\[[^{}()[\]]*\]/g;

/**
 * Determines a document's operation kind from the words outside all brackets. Ambiguous documents count as mutations, which
 * are sent with an Idempotency-Key: a retried mutation without one could create keys twice.
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
