import { useSuspenseQuery } from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import { ApiError } from './api-error.ts';
import { queryOf, type Topic } from './query.ts';
import { request } from './request.ts';

/** Like `useRead`, for what may not exist, or be deleted while it is shown: null then. */
export function useFind<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  topics: readonly Topic[] = [],
): Result | null {
  const { data } = useSuspenseQuery<Result | null, ApiError, Result | null, readonly [string, Variables]>({
    ...queryOf(document, variables, topics),
    queryFn: async ({ signal }) => {
      try {
        return await request(document, variables, { signal });
      } catch (thrown) {
        if (thrown instanceof ApiError && thrown.code.endsWith('_NOT_FOUND')) return null;
        throw thrown;
      }
    },
  });
  return data;
}
