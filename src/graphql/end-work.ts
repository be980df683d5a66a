import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { GraphqlContext } from './context.ts';

/**
 * Ends what an operation has begun to read when its answer is complete. A field that fails takes its neighbours with
 * it up to the next one that can be null, and what was asked for them would go on for nobody.
 */
export const endWork: Plugin<GraphqlContext> = {
  onExecute: ({ args }) => {
    const complete = new AbortController();
    const context: GraphqlContext = args.contextValue;
    context.service = partOf(context, complete.signal).service;
    return { onExecuteDone: () => complete.abort() };
  },
};

/**
 * Executes in a way that may fail, and in another one if it does: what the first has begun is given up before.
 * @param first rejects when it has no answer
 */
export async function firstOrElse(
  args: ExecutionArgs & { contextValue?: unknown },
  first: (args: ExecutionArgs) => Promise<ExecutionResult>,
  otherwise: (args: ExecutionArgs) => ReturnType<typeof first>,
): Promise<ExecutionResult> {
  const failed = new AbortController();
  try {
    // Yoga types the context of an operation as anything: it is ours.
    const contextValue = partOf(args.contextValue as GraphqlContext, failed.signal);
    return await first({ ...args, contextValue });
  } catch {
    failed.abort();
    return otherwise(args);
  }
}

function partOf(context: GraphqlContext, signal: AbortSignal): GraphqlContext {
  const { service } = context;
  return service.work === undefined
    ? context
    : { ...context, service: { ...service, work: service.work.part(signal) } };
}
