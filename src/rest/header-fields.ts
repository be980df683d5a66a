import type { RateLimitOutcome } from '../ephemeral/store.ts';
import type { RestContext } from './adapter.ts';

/** Header fields by name. Plain, as an answer that is made of them at once costs a third of one that gathers them. */
export type HeaderFields = Readonly<Record<string, string>>;

/** What every answer carries. */
export const commonFields = (requestId: string): HeaderFields => ({
  'X-Request-Id': requestId,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
});

/** `RateLimit-*` of the IETF draft, and `Retry-After` once the limit is reached. */
export function rateLimitFields(outcome: RateLimitOutcome): HeaderFields {
  const fields = {
    'RateLimit-Limit': String(outcome.limit),
    'RateLimit-Remaining': String(outcome.remaining),
    'RateLimit-Reset': String(outcome.resetSeconds),
  };
  return outcome.allowed ? fields : { ...fields, 'Retry-After': fields['RateLimit-Reset'] };
}

/** Has the answer carry these, whatever it will be. */
export function setFields(c: RestContext, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields)) c.header(name, value);
}
