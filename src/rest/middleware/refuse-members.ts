import type { MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ServiceError } from '../../services/errors.ts';
import { strictObject } from '../../services/fields.ts';
import type { RestEnv } from '../adapter.ts';
import { hasBody } from './require-json.ts';

const noMembers = strictObject({});

/**
 * Rejects body members on routes that take no body, so that `{ "scope": "hwid" }` sent to the wrong path is not silently
 * ignored. A missing body and an empty object pass, as many clients send either. It runs after `boundedJson`.
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
