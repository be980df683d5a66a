import type { TypedDocumentString } from '../generated/graphql.ts';
import { ApiError, errorOf } from './api-error.ts';
import { graphqlUrl } from './paths.ts';

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Makes it safe to send a change again: the service answers a repeated key with the first answer. */
  readonly idempotencyKey?: string;
}

/**
 * Sends an operation with the session's cookie.
 * @throws {ApiError} the service's error, or UNREACHABLE
 */
export async function request<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  { signal, idempotencyKey }: RequestOptions = {},
): Promise<Result> {
  const response = await fetch(graphqlUrl, {
    method: 'POST',
    credentials: 'same-origin',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json',
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    body: JSON.stringify({ query: document.toString(), variables }),
    signal: signal ?? null,
  }).catch((thrown: unknown) => {
    if (signal?.aborted) throw thrown;
    throw new ApiError('UNREACHABLE', 'The service does not answer.');
  });
  const body: unknown = await response.json().catch(() => null);
  const error = errorOf(body, response.status);
  if (error !== null) throw error;
  return dataOf<Result>(body);
}

/** The types of `data` are generated from the schema that the service answers by. */
const dataOf = <Result>(body: unknown): Result => (body as { data: Result }).data;
