import type { RateLimitOutcome } from '../ephemeral/store.ts';
import type { RestContext } from './adapter.ts';

/** Header fields by name. A plain object, because building a Response from one costs a third of setting fields one by one. */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * Restricts what a browser may do with a response: no caching, no content sniffing, no subresources, no framing, no
 * cross-origin loading or window references, no referrer. HTML pages override the content policy.
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

/** HSTS for one year (RFC 6797). */
const httpsOnly: HeaderFields = { 'Strict-Transport-Security': 'max-age=31536000' };

/** Header fields of every response, given the service's public URL. */
export const fixedFields = (publicUrl: string): HeaderFields =>
  publicUrl.startsWith('https:') ? { ...closedToOtherSites, ...httpsOnly } : closedToOtherSites;

/** Makes the header fields of every response, for one request. */
export type CommonFields = (requestId: string) => HeaderFields;

/** Joins the fixed fields, computed once, with the request id. */
export function createCommonFields(publicUrl: string): CommonFields {
  const fixed = fixedFields(publicUrl);
  return (requestId) => ({ 'X-Request-Id': requestId, ...fixed });
}

/** `RateLimit-*` fields (IETF draft), plus `Retry-After` once the limit is reached. */
export function rateLimitFields(outcome: RateLimitOutcome): HeaderFields {
  const fields = {
    'RateLimit-Limit': String(outcome.limit),
    'RateLimit-Remaining': String(outcome.remaining),
    'RateLimit-Reset': String(outcome.resetSeconds),
  };
  return outcome.allowed ? fields : { ...fields, 'Retry-After': fields['RateLimit-Reset'] };
}

/** Sets fields on the eventual response, including error responses. */
export function setFields(c: RestContext, fields: HeaderFields): void {
  for (const [name, value] of Object.entries(fields)) c.header(name, value);
}
