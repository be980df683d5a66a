import type { Context } from 'hono';

/** Where the country of a client comes from: a header that a trusted proxy sets, or a database of addresses. */
export interface CountrySource {
  readonly header: string | null;
  /** ISO 3166-1 alpha-2; null when the address is in no country it knows. */
  readonly lookUp: ((ip: string) => string | null) | null;
}

const countryPattern = /^[A-Z][A-Z0-9]$/;

/** The client's country. A header that is set and malformed says nothing: the database is asked then. */
export function countryOf(c: Context, ip: string, { header, lookUp }: CountrySource): string | null {
  const named = header === null ? undefined : c.req.header(header);
  if (named !== undefined && countryPattern.test(named)) return named;
  return lookUp?.(ip) ?? null;
}
