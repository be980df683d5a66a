import { type ExecutionArgs, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from './context.ts';

/** Puts the operation's name and kind into the request's log line, once the document is known to be valid. */
export const noteOperation: Plugin<GraphqlContext> = {
  onExecute: ({ args, context }) => note(args, context),
  onSubscribe: ({ args, context }) => note(args, context),
};

function note(args: ExecutionArgs, { notes }: GraphqlContext): void {
  const operation = getOperationAST(args.document, args.operationName);
  if (!operation) return;
  notes.operation = operation.name?.value ?? null;
  notes.operationKind = operation.operation;
  if (operation.operation === 'subscription') notes.transport = 'subscription';
}
