import type { TypedDocumentString } from '../generated/graphql.ts';
import { isPassing } from './query-client.ts';
import { randomId } from './random-id.ts';
import { request } from './request.ts';

/** Waits before a change is sent again. */
const retryMilliseconds = [500, 2_000];

/**
 * Sends a change. If the answer is lost, it is sent again with the same Idempotency-Key: the service then repeats the
 * first answer, so that nothing is done twice and keys that are shown only once are not lost.
 * @param idempotencyKey of an earlier attempt, to go on with it
 * @throws {ApiError}
 */
export async function sendChange<Result, Variables>(
  document: TypedDocumentString<Result, Variables>,
  variables: Variables,
  idempotencyKey: string = randomId(),
): Promise<Result> {
  for (const wait of retryMilliseconds) {
    try {
      return await request(document, variables, { idempotencyKey });
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
  return await request(document, variables, { idempotencyKey });
}
