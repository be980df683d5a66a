import { createRoute as createContract, OpenAPIHono, z } from '@hono/zod-openapi';
import { type RateLimitName, rateLimitDefaults, rateLimitWindowSeconds } from '../ephemeral/rate-limits.ts';
import { ServiceError } from '../services/errors.ts';
import { strictObject } from '../services/fields.ts';
import type { Scope } from '../services/scopes.ts';
import type { RestEnv } from './adapter.ts';
import { serviceErrorStatus } from './errors.ts';
import { failureExample } from './examples.ts';
import { authenticated } from './middleware/authenticate.ts';
import { boundedJson } from './middleware/bounded-json.ts';
import { withIdempotencyKey } from './middleware/idempotency-key.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { refuseMembers } from './middleware/refuse-members.ts';
import { failureSchema } from './schemas.ts';

/** A router that validates requests against the routes' schemas and answers violations with VALIDATION_FAILED. */
export const createRouter = () =>
  new OpenAPIHono<RestEnv>({
    defaultHook: (result) => {
      if (!result.success) throw ServiceError.invalidInput(result.error.issues);
    },
  });

const noQuery = strictObject({});

/**
 * A dashboard route. Query parameters and body members that its contract does not name are rejected, also on routes
 * without query parameters or a body.
 */
export const createRoute: typeof createContract = (config) => {
  const route = createContract(config);
  const request = { query: noQuery, ...config.request };
  if (config.request?.body !== undefined) return Object.assign(route, { request });
  return Object.assign(route, { request, middleware: [config.middleware ?? [], refuseMembers].flat() });
};

/** A required JSON request body that rejects unknown members. */
export const jsonBody = <Schema extends z.ZodObject<z.core.$ZodLooseShape, z.core.$strict>>(
  schema: Schema,
) => ({ required: true, content: { 'application/json': { schema } } });

/** A JSON request body of the client protocol, which ignores unknown members (SPEC §1). */
export const openJsonBody = <Schema extends z.ZodObject>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** A JSON response. */
export const jsonAnswer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
});

const failureDescriptions = {
  400: 'Invalid input, or not possible in the current state',
  401: 'Missing or invalid credentials',
  403: 'Not allowed',
  404: 'Not found, or not yours',
  409: 'Conflict with existing data',
  410: 'No longer available',
  413: 'Request body too large',
  422: 'The Idempotency-Key was sent with another request',
  429: 'Too many requests; see Retry-After',
  500: 'Internal error',
  503: 'A required dependency is unavailable; try again shortly',
} as const;
type FailureStatus = keyof typeof failureDescriptions;

/** Makes a function that lists a route's error responses by HTTP status, from a table of codes and their statuses. */
export const failuresOf =
  <const Statuses extends Readonly<Record<string, FailureStatus>>>(statuses: Statuses) =>
  <const Code extends keyof Statuses & string>(...routeCodes: readonly Code[]) => {
    const codes = [...new Set(routeCodes)];
    const statusOf = (code: Code) => statuses[code] ?? 500;
    const answers = [...new Set(codes.map(statusOf))].map((status) => [
      status,
      failureAnswer(
        status,
        codes.filter((code) => statusOf(code) === status),
      ),
    ]);
    return Object.fromEntries(answers) as Record<Statuses[Code], ReturnType<typeof failureAnswer>>;
  };

/** The error response of one status, with the codes it can have on this route. */
const failureAnswer = (status: FailureStatus, codes: readonly string[]) => ({
  description: `${failureDescriptions[status]}: ${codes.join(', ')}`,
  content: {
    'application/json': {
      schema: failureSchema.and(z.object({ code: z.enum(codes) })),
      examples: Object.fromEntries(codes.map((code) => [code, { value: failureExample(code) }])),
    },
  },
});

/** Error responses of a dashboard route. */
export const failures = failuresOf({ ...serviceErrorStatus, PAYLOAD_TOO_LARGE: 413 });

/** Codes of every route. VALIDATION_FAILED: at least for unknown query parameters. */
const commonCodes = ['VALIDATION_FAILED', 'UNAVAILABLE', 'INTERNAL'] as const;
/** Codes of a public, rate-limited route with a body. FORBIDDEN: a foreign page sent the session cookie. */
export const publicCodes = ['FORBIDDEN', 'RATE_LIMITED', ...commonCodes, 'PAYLOAD_TOO_LARGE'] as const;
/** Codes of an authenticated read. RATE_LIMITED: at least after many failed bearer attempts. */
export const readCodes = ['UNAUTHENTICATED', 'INSUFFICIENT_SCOPE', 'RATE_LIMITED', ...commonCodes] as const;
/** Codes of an authenticated read that waits in the developer's queue. */
export const queuedReadCodes = [...readCodes, 'TOO_MANY_READS'] as const;
/** Codes of a searchable list. */
export const searchCodes = [...queuedReadCodes, 'SEARCH_TOO_BROAD'] as const;
/** Codes of an authenticated change without a body. */
export const changeCodes = [
  ...readCodes,
  'FORBIDDEN',
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_IN_PROGRESS',
] as const;
/** Codes of an authenticated change with a body. */
export const bodyCodes = [...changeCodes, 'PAYLOAD_TOO_LARGE'] as const;

/** Dashboard routes accept either credential. */
const developerSecurity: Record<string, string[]>[] = [{ sessionCookie: [] }, { apiKey: [] }];

/** OpenAPI extension with a route's rate limit. openapi.ts adds the rate-limit header fields to routes that have it. */
export const limitExtension = 'x-rate-limit';
const limitNote = (name: RateLimitName) => ({
  [limitExtension]: { name, requests: rateLimitDefaults[name], windowSeconds: rateLimitWindowSeconds },
});

/** OpenAPI extension with all scopes that an API key needs for a route. openapi.ts adds them to its description. */
export const scopeExtension = 'x-required-scope';

/** The part of a contract that says which scopes its verb needs. The verb checks them; tests compare both. */
export const needs = (...scopes: readonly [Scope, ...Scope[]]) => ({ [scopeExtension]: scopes });

/** Contract and middleware of an authenticated route. */
export const forDevelopers = {
  security: developerSecurity,
  middleware: [authenticated, ...boundedJson, withIdempotencyKey],
};

/** Contract and middleware of an authenticated route with its own rate limit. */
export const limitedForDevelopers = (limit: RateLimitName) => ({
  security: developerSecurity,
  middleware: [rateLimit(limit), authenticated, ...boundedJson, withIdempotencyKey],
  ...limitNote(limit),
});

/** Contract of a public, rate-limited route. */
export const publicContract = (limit: RateLimitName) => ({ security: [], ...limitNote(limit) });

/** Contract and middleware of a public, rate-limited route. */
export const limitedForAll = (limit: RateLimitName) => ({
  ...publicContract(limit),
  middleware: [rateLimit(limit), ...boundedJson],
});

const idText = z.string().openapi({ format: 'uuid', example: '019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a4d' });

/** The `id` path parameter. It is not validated: a malformed id matches no resource and returns 404, not 400. */
export const idParam = (resource: string) =>
  z.object({
    id: idText.openapi({ param: { in: 'path', name: 'id', description: `Identifier of ${resource}.` } }),
  });

/** A second identifier in a path, after `id`. */
export const nestedIdParam = (name: string, resource: string) =>
  idText.openapi({ param: { in: 'path', name, description: `Identifier of ${resource}.` } });
