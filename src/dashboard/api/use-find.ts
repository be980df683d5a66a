import { useSuspenseQuery } from '@tanstack/react-query';
import type { TypedDocumentString } from '../generated/graphql.ts';
import type { ApiError } from './api-error.ts';
import { queryOf, type Topic } from './query.ts';
import { request } from './request.ts';
import { unlessMissing } from './unless-missing.ts';

/** Like `useRead`, for what may not exist, or be deleted while it is shown: null then. */
export function useFind<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  topics: readonly Topic[] = [],
): Result | null {
  const { data } = useSuspenseQuery<Result | null, ApiError, Result | null, readonly [string, Variables]>({
    ...queryOf(document, variables, topics),
    queryFn: ({ signal }) => unlessMissing(request(document, variables, { signal })),
  });
  return data;
}
