import type { Context } from 'hono';

const bearerPattern = /^Bearer +(\S+) *$/i;

/** The bearer token of the Authorization header (RFC 6750 §2.1), or null. */
export const readBearer = (c: Context): string | null =>
  bearerPattern.exec(c.req.header('authorization') ?? '')?.[1] ?? null;
