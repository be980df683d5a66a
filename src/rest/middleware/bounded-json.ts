import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { findExcess, type JsonLimits, largestJson } from '../../lib/json-limits.ts';
import type { RestEnv } from '../adapter.ts';
import { largestBodies, limitBodyByActor } from './limit-body.ts';
import { hasBody } from './require-json.ts';

const excessMessages: Record<keyof JsonLimits, string> = {
  values: `The request body holds more than ${largestJson.values.toLocaleString('en-US')} values. Split it into several requests.`,
  text: `A text or member name in the request body is longer than ${largestJson.text.toLocaleString('en-US')} bytes. Nothing here takes one of that length.`,
};

/** Refuses what would stall the process while a validator parses it: lists in lists, by the million. */
const refuseExcess: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (hasBody(c)) {
    const excess = findExcess(new Uint8Array(await c.req.arrayBuffer()), largestJson);
    if (excess !== null) throw new HTTPException(413, { message: excessMessages[excess] });
  }
  await next();
};

/**
 * Bounds a body by who sends it, and then what it holds. It stands in a route, behind what finds out who asks and how
 * often: of a request that a route refuses for its sender, or that has no route, no byte of a body is held. A validator
 * would take a refusal of its reader for a body that is not JSON, so this comes before one.
 */
export const boundedJson: readonly MiddlewareHandler<RestEnv>[] = [
  limitBodyByActor(largestBodies),
  refuseExcess,
];
