import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../services/errors.ts';
import { unknownMember } from '../../services/fields.ts';
import type { RestEnv } from '../adapter.ts';

const name = '__proto__';

/**
 * Refuses a query parameter `__proto__`. A schema that takes parameters of any name drops this one silently, while every
 * other unknown name is refused.
 * @param known the names that the route takes
 */
export const refusePrototype =
  (known: readonly string[]): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    if (new URL(c.req.url).searchParams.has(name)) {
      throw ServiceError.invalidInput([
        {
          code: 'unrecognized_keys',
          keys: [name],
          path: [],
          message: unknownMember(known),
          input: undefined,
        },
      ]);
    }
    await next();
  };
