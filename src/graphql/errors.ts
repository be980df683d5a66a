import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ServiceError } from '../services/errors.ts';
import { isUnavailable } from '../services/unavailable.ts';
import type { GraphqlContext } from './context.ts';

/**
 * Gives every execution error a code, the same as in REST. What was not foreseen is logged, and tells its request id
 * and nothing else.
 */
export const errorCodes: Plugin<GraphqlContext> = {
  onExecute: ({ context }) => ({
    onExecuteDone: ({ result, setResult }) => {
      if (Symbol.asyncIterator in result || result.errors === undefined) return;
      const errors = result.errors.map((error) => toClientError(error, context));
      setResult({ ...(result as ExecutionResult), errors });
    },
  }),
};

function toClientError(error: GraphQLError, context: GraphqlContext): GraphQLError {
  const cause = error.originalError;
  if (cause === undefined || cause instanceof GraphQLError)
    return withCode(error, error.message, 'BAD_REQUEST');
  if (cause instanceof ServiceError) {
    return withCode(error, cause.message, cause.code, cause.issues && { issues: cause.issues });
  }
  const { log } = context.service.env;
  if (isUnavailable(cause)) {
    log.error({ err: cause, requestId: context.requestId }, 'a part that requests need is away');
    return withCode(error, 'The service cannot answer this now. Try again in a moment.', 'UNAVAILABLE');
  }
  log.error({ err: cause, requestId: context.requestId }, 'request failed unexpectedly');
  return withCode(error, 'Something went wrong here. It has been logged.', 'INTERNAL', {
    requestId: context.requestId,
  });
}

const withCode = (error: GraphQLError, message: string, code: string, more?: Record<string, unknown>) =>
  new GraphQLError(message, {
    nodes: error.nodes,
    path: error.path,
    extensions: { code, ...error.extensions, ...more },
  });
