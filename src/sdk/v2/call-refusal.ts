import * as z from 'zod';
import type { Failure } from '../failure.ts';
import type { HttpAnswer } from '../http.ts';
import { refusalOf } from '../refusal.ts';

const keyUnknown = z.object({ code: z.literal('KEY_UNKNOWN') });

/**
 * Converts an HTTP response to a call whose status is not 200. KEY_UNKNOWN is recognised by its code alone (SPEC §10): all
 * that it causes is one fetch.
 */
export function callRefusalOf(answer: HttpAnswer): Failure {
  const known = keyUnknown.safeParse(answer.body);
  return known.success ? { ...refusalOf(answer), code: known.data.code } : refusalOf(answer);
}
