import { type UseQueryOptions, useSuspenseQuery } from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import type { ApiError } from './api-error.ts';
import { request } from './request.ts';

/** The first part of an event's type: what a query shows, and so which events make it read again. */
export type Topic =
  | 'account'
  | 'api_key'
  | 'application'
  | 'ban'
  | 'device'
  | 'license'
  | 'policy'
  | 'user'
  | 'webhook';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiError;
    queryMeta: { readonly topics?: readonly Topic[] };
  }
}

/** The name of an operation, which begins the keys of its answers in the cache. */
export function nameOf(document: { toString(): string }): string {
  const [, name] = /(?:query|mutation|subscription)\s+(\w+)/.exec(document.toString()) ?? [];
  if (name === undefined) throw new Error('An operation without a name.');
  return name;
}

/**
 * Options for `useQuery` and its like.
 * @param topics which events make it read again while it is on the screen
 */
export const queryOf = <Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  topics: readonly Topic[] = [],
) =>
  ({
    queryKey: [nameOf(document), variables] as const,
    queryFn: ({ signal }) => request(document, variables, { signal }),
    meta: { topics },
  }) satisfies UseQueryOptions<Result, ApiError, Result, readonly [string, Variables]>;

/**
 * Reads an operation, and reads it again whenever one of the topics changes. The nearest boundary shows that it loads,
 * or why it failed.
 */
export const useRead = <Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  topics: readonly Topic[] = [],
): Result =>
  useSuspenseQuery<Result, ApiError, Result, readonly [string, Variables]>(
    queryOf(document, variables, topics),
  ).data;
