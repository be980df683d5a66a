import { OpenAPIHono, z } from '@hono/zod-openapi';
import { ServiceError } from '../services/errors.ts';
import type { RestEnv } from './adapter.ts';
import { errorSchema } from './schemas.ts';

/** A router whose routes are their contract: what a schema refuses is answered as VALIDATION_FAILED. */
export const createRouter = () =>
  new OpenAPIHono<RestEnv>({
    defaultHook: (result) => {
      if (!result.success) throw ServiceError.invalidInput(result.error.issues);
    },
  });

/** A JSON request body. */
export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** A JSON answer. */
export const jsonAnswer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
});

const failureDescriptions = {
  400: 'The input is not valid',
  401: 'Nobody is logged in, or the credentials are wrong',
  403: 'Not allowed',
  404: 'There is no such thing, or it is not yours',
  409: 'It conflicts with what exists',
  413: 'The body is too large',
  429: 'Too many requests',
  503: 'A part that the request needs is away',
} as const;

type FailureStatus = keyof typeof failureDescriptions;

/** The failures of a route, each in the one error shape. */
export function failures<Status extends FailureStatus>(...statuses: readonly Status[]) {
  const entries = statuses.map((status) => [status, jsonAnswer(failureDescriptions[status], errorSchema)]);
  return Object.fromEntries(entries) as Record<Status, ReturnType<typeof jsonAnswer<typeof errorSchema>>>;
}

/** Either credential opens a dashboard route. */
export const developerSecurity: Record<string, string[]>[] = [{ sessionCookie: [] }, { apiKey: [] }];

/** `:id` of a path. Text that is no id names nothing, so it is a 404 of the resource and no 400. */
export const idParam = z.object({ id: z.string().openapi({ param: { in: 'path', name: 'id' } }) });
