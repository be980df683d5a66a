import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ServiceError } from '../../services/errors.ts';
import { closedObject } from '../../services/fields.ts';
import type { RestEnv } from '../adapter.ts';
import { hasBody } from './require-json.ts';

const noMembers = closedObject({});

/**
 * Refuses what a body asks of a route that takes none: `{ "scope": "hwid" }` sent to the wrong path is not passed over.
 * No body and an empty object ask nothing, and many clients send one of the two. It stands behind `boundedJson`.
 */
export const refuseMembers: MiddlewareHandler<RestEnv> = async (c, next) => {
  if (hasBody(c)) {
    const body: unknown = await c.req.json().catch(() => {
      throw new HTTPException(400);
    });
    const parsed = noMembers.safeParse(body);
    if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
  }
  await next();
};
