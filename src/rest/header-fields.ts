import type { RateLimitOutcome } from '../ephemeral/store.ts';
import type { RestContext } from './adapter.ts';

/** Header fields by name. Plain, as an answer that is made of them at once costs a third of one that gathers them. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * What a browser may do with an answer. It is not kept and not taken for another type; as a page it loads nothing and
 * stands in no frame; no other site can load it or hold on to its window, and none learns where its reader came from.
 * Pages that have something to load state a policy of their own.
 */
const closedToOtherSites: HeaderFields = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** A browser that has seen this host over https does not go back to http for a year (RFC 6797). */
const httpsAlone: HeaderFields = { 'Strict-Transport-Security': 'max-age=31536000' };

/** What every answer of a service at this address carries. */
export const fixedFields = (publicUrl: string): HeaderFields =>
  publicUrl.startsWith('https:') ? { ...closedToOtherSites, ...httpsAlone } : closedToOtherSites;

/** What every answer carries, as it is made for one request. */
export type CommonFields = (requestId: string) => HeaderFields;

/** Joins the fixed fields, which are made once, with the one that each request has of its own. */
export function createCommonFields(publicUrl: string): CommonFields {
  const fixed = fixedFields(publicUrl);
  return (requestId) => ({ 'X-Request-Id': requestId, ...fixed });
}

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
