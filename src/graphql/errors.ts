import type { ExecutionResult, GraphQLError } from 'graphql';
import { createGraphQLError, isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga';
import { RateLimitedError, ServiceError } from '../services/errors.ts';
import { isUnavailable } from '../services/unavailable.ts';
import type { GraphqlContext } from './context.ts';

/**
 * Gives every error a code, the same as in REST: errors of the request, of parsing, validation and execution. An
 * unexpected error is logged, and the answer has only its request id.
 */
export const errorCodes: Plugin<object, GraphqlContext> = {
  onResultProcess: ({ result, setResult, serverContext }) => {
    const withCodes = (one: ExecutionResult): ExecutionResult =>
      one.errors === undefined
        ? one
        : {
            ...one,
            errors: noteFirst(
              one.errors.map((error) => toClientError(error, serverContext)),
              serverContext,
            ),
          };
    if (isAsyncIterable(result)) setResult(mapAsyncIterator(result, withCodes));
    else if (!Array.isArray(result)) setResult(withCodes(result));
  },
};

/** Puts the code of the first error into the request's log line. */
function noteFirst(errors: readonly GraphQLError[], { notes }: GraphqlContext): readonly GraphQLError[] {
  const code = errors[0]?.extensions.code;
  if (typeof code === 'string') notes.code ??= code;
  return errors;
}

function toClientError(error: GraphQLError, context: GraphqlContext): GraphQLError {
  const cause = rootCause(error);
  if (cause === undefined) {
    const { code = 'BAD_REQUEST', http } = error.extensions;
    return withExtensions(error, error.message, { code, ...(http !== undefined && { http }) });
  }
  if (cause instanceof RateLimitedError) return rateLimited(error, cause);
  if (cause instanceof ServiceError) {
    const { message, code, issues } = cause;
    return withExtensions(error, message, { code, ...(issues && { issues }) });
  }
  if (cause instanceof RangeError && error.path === undefined) return tooDeep(error);
  const { log } = context.service.env;
  const { requestId } = context;
  if (isUnavailable(cause)) {
    log.error({ err: cause, requestId }, 'a required dependency is unavailable');
    const message = 'The service is temporarily unavailable. Try again shortly.';
    return withExtensions(error, message, { code: 'UNAVAILABLE' });
  }
  log.error({ err: cause, requestId }, 'request failed unexpectedly');
  const message = 'Internal error. It has been logged.';
  return withExtensions(error, message, { code: 'INTERNAL', requestId });
}

/** The error that was thrown, without GraphQL's wrappers; undefined for an error of GraphQL itself. */
function rootCause(error: GraphQLError): Error | undefined {
  const cause = error.originalError;
  return cause !== undefined && isGraphQLError(cause) ? rootCause(cause) : cause;
}

/** By name: a program can have two copies of the graphql package, one for each module system. */
const isGraphQLError = (error: Error): error is GraphQLError => error.name === 'GraphQLError';

/** States when to retry, in the message and in the headers, as REST does. */
function rateLimited(error: GraphQLError, { code, message, outcome }: RateLimitedError): GraphQLError {
  return withExtensions(error, message, { code, http: { headers: rateLimitHeaders(outcome) } });
}

const rateLimitHeaders = ({ limit, remaining, resetSeconds }: RateLimitedError['outcome']) => ({
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(resetSeconds),
  'Retry-After': String(resetSeconds),
});

/** Before execution, only the recursive parser can exhaust the stack, with a document that nests thousands of values. */
const tooDeep = (error: GraphQLError) =>
  withExtensions(error, 'The document is nested too deeply.', {
    code: 'QUERY_TOO_DEEP',
    http: { spec: true, status: 400 },
  });

/** The error with another message. `http` sets the status and the headers of the answer; it is not sent. */
function withExtensions(
  error: GraphQLError,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  const { nodes, source, positions, path } = error;
  return createGraphQLError(message, { nodes, source, positions, path, extensions });
}
