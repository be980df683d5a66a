import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from './context.ts';

/**
 * Ends the reads of an operation when its answer is complete. A field that fails nulls its siblings up to the next
 * nullable field, and the executor would let their reads go on.
 */
export const endWork: Plugin<GraphqlContext> = {
  onExecute: ({ args }) => {
    const complete = new AbortController();
    const context: GraphqlContext = args.contextValue;
    const { service } = context;
    if (service.work !== undefined)
      context.service = { ...service, work: service.work.part(complete.signal) };
    return { onExecuteDone: () => complete.abort() };
  },
};
