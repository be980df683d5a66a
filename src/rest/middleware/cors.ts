import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { RestContext, RestEnv } from '../adapter.ts';
import { type HeaderFields, setFields } from '../header-fields.ts';
import type { AllowedOrigins } from './allowed-origins.ts';

/** Response header fields that pages may read. */
const exposed = [
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Idempotent-Replayed',
];

/**
 * Client software may run on any web page, and the client protocol uses no cookies. Every origin may call it, without
 * credentials.
 */
const openCorsFields: HeaderFields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposed.join(','),
};

/**
 * Lets pages of every origin read a response that a cache may keep. Also for a request without an `Origin`: the cache gives
 * its response to pages too.
 */
export const openToAllPages: MiddlewareHandler<RestEnv> = async (c, next) => {
  setFields(c, openCorsFields);
  await next();
};

/** CORS fields of a client-protocol response; empty for requests without an `Origin`. */
export const corsFieldsFor = (c: RestContext): HeaderFields =>
  c.req.header('origin') === undefined ? {} : openCorsFields;

/** Answers CORS preflights of the client protocol. */
export const corsForAllOrigins =
  (methods: string): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    setFields(c, corsFieldsFor(c));
    if (c.req.method !== 'OPTIONS' || c.req.header('origin') === undefined) return next();
    c.header('Access-Control-Allow-Methods', methods);
    c.header('Access-Control-Allow-Headers', 'Content-Type');
    c.header('Access-Control-Max-Age', '600');
    return c.body(null, 204);
  };

/**
 * Lets dashboards on the configured origins call with the session cookie. Requests without an `Origin` are untouched;
 * they need no `Vary`, because responses are not cached.
 */
export function corsForAllowedOrigins(origins: AllowedOrigins): MiddlewareHandler<RestEnv> {
  const open = cors({ origin: [...origins.configured], credentials: true, exposeHeaders: exposed });
  return (c, next) => {
    if (c.req.header('origin') === undefined) return next();
    const foreign = origins.foreign(c);
    if (foreign !== null) origins.logRefused(foreign);
    return open(c, next);
  };
}
