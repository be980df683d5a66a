import type { Context } from 'hono';

/** Source of a client's country: a header set by a trusted proxy, or an IP address database. */
export interface CountrySource {
  readonly header: string | null;
  /** Returns an ISO 3166-1 alpha-2 code, or null if the address has no known country. */
  readonly lookUp: ((ip: string) => string | null) | null;
}

const countryPattern = /^[A-Z][A-Z0-9]$/;

/** The client's country as an ISO 3166-1 alpha-2 code, or null. If the header is missing or malformed, the database is used. */
export function countryOf(c: Context, ip: string, { header, lookUp }: CountrySource): string | null {
  const named = header === null ? undefined : c.req.header(header);
  if (named !== undefined && countryPattern.test(named)) return named;
  return lookUp?.(ip) ?? null;
}
