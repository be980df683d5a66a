import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { bodyJsonLimits, findExcess, type JsonLimits } from '../../lib/json-limits.ts';
import type { RestEnv } from '../adapter.ts';
import { limitBodyByActor, maxBodyBytes } from './limit-body.ts';
import { hasBody } from './require-json.ts';

const excessMessages: Record<keyof JsonLimits, string> = {
  values: `The request body contains more than ${bodyJsonLimits.values.toLocaleString('en-US')} values. Split it into several requests.`,
  text: `A string or member name in the request body is longer than ${bodyJsonLimits.text.toLocaleString('en-US')} bytes.`,
};

/** Rejects JSON that would stall the process while it is parsed and validated, such as millions of nested arrays. */
const refuseExcess: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (hasBody(c)) {
    const excess = findExcess(new Uint8Array(await c.req.arrayBuffer()), bodyJsonLimits);
    if (excess !== null) throw new HTTPException(413, { message: excessMessages[excess] });
  }
  await next();
};

/**
 * Limits a body's size by caller, then its contents. It runs inside a route, after authentication and rate limits, so
 * that no body is buffered for a request that they reject or that matches no route. It runs before the validator, which
 * would report an error from the body reader as malformed JSON.
 */
export const boundedJson: readonly MiddlewareHandler<RestEnv>[] = [
  limitBodyByActor(maxBodyBytes),
  refuseExcess,
];
