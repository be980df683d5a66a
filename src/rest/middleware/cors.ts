import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import type { RestContext, RestEnv } from '../adapter.ts';
import { type HeaderFields, setFields } from '../header-fields.ts';
import type { AllowedOrigins } from './allowed-origins.ts';

/** What a page may read of an answer beside its body. */
const exposed = ['X-Request-Id', 'Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/**
 * Client software may run in any page, and the client protocol trusts no cookie: every origin may call it, without
 * credentials.
 */
const openFields: HeaderFields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposed.join(','),
};

/** What a page needs to be let at an answer of the client protocol; nothing where no page asks. */
export const openFieldsFor = (c: RestContext): HeaderFields =>
  c.req.header('origin') === undefined ? {} : openFields;

/** Answers a page that asks whether it may call the client protocol. */
export const openToAllPages: MiddlewareHandler<RestEnv> = async (c, next) => {
  setFields(c, openFieldsFor(c));
  if (c.req.method !== 'OPTIONS' || c.req.header('origin') === undefined) return next();
  c.header('Access-Control-Allow-Methods', 'POST');
  c.header('Access-Control-Allow-Headers', 'Content-Type');
  c.header('Access-Control-Max-Age', '600');
  return c.body(null, 204);
};

/**
 * Dashboards on the configured origins may call with the session cookie. A request of no page is left as it is: answers
 * are not stored, so that none has to say that it varies.
 */
export function openToAllowedPages(origins: AllowedOrigins): MiddlewareHandler<RestEnv> {
  const open = cors({ origin: [...origins.configured], credentials: true, exposeHeaders: exposed });
  return (c, next) => {
    if (c.req.header('origin') === undefined) return next();
    const foreign = origins.foreign(c);
    if (foreign !== null) origins.noteRefused(foreign);
    return open(c, next);
  };
}
