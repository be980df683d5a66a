import { createRoute as createContract, OpenAPIHono, z } from '@hono/zod-openapi';
import { type RateLimitName, rateLimitDefaults, rateLimitWindowSeconds } from '../ephemeral/rate-limits.ts';
import { ServiceError } from '../services/errors.ts';
import { closedObject } from '../services/fields.ts';
import type { RestEnv } from './adapter.ts';
import { serviceErrorStatus } from './errors.ts';
import { failureExample } from './examples.ts';
import { authenticated } from './middleware/authenticate.ts';
import { boundedJson } from './middleware/bounded-json.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { refuseMembers } from './middleware/refuse-members.ts';
import { failureSchema } from './schemas.ts';

/** A router whose routes are their contract: what a schema refuses is answered as VALIDATION_FAILED. */
export const createRouter = () =>
  new OpenAPIHono<RestEnv>({
    defaultHook: (result) => {
      if (!result.success) throw ServiceError.invalidInput(result.error.issues);
    },
  });

const noQuery = closedObject({});

/**
 * A route of the dashboard, which takes what its contract names and refuses everything else by name: query parameters,
 * and the members of a body, also where the contract has none.
 */
export const createRoute: typeof createContract = (config) => {
  const route = createContract(config);
  const request = { query: noQuery, ...config.request };
  if (config.request?.body !== undefined) return Object.assign(route, { request });
  return Object.assign(route, { request, middleware: [config.middleware ?? [], refuseMembers].flat() });
};

/** A JSON request body of these members and no other. */
export const jsonBody = <Schema extends z.ZodObject<z.core.$ZodLooseShape, z.core.$strict>>(
  schema: Schema,
) => ({ required: true, content: { 'application/json': { schema } } });

/** A JSON request body of the client protocol, where members that are not known are ignored (SPEC §1). */
export const openJsonBody = <Schema extends z.ZodObject>(schema: Schema) => ({
  required: true,
  content: { 'application/json': { schema } },
});

/** A JSON answer. */
export const jsonAnswer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
});

const failureDescriptions = {
  400: 'The input is not valid, or does not fit what is there',
  401: 'Nobody is logged in, or the credentials are wrong',
  403: 'Not allowed',
  404: 'There is no such thing, or it is not yours',
  409: 'It conflicts with what exists',
  413: 'The body is too large',
  429: 'Too many requests: Retry-After says when the next one is welcome',
  500: 'Something went wrong in the service',
  503: 'A part that the request needs is away: try again in a moment',
} as const;
type FailureStatus = keyof typeof failureDescriptions;

/** The failures of a route, by HTTP status, from a table that says which status a code has. */
export const failuresOf =
  <const Statuses extends Readonly<Record<string, FailureStatus>>>(statuses: Statuses) =>
  <const Code extends keyof Statuses & string>(...given: readonly Code[]) => {
    const codes = [...new Set(given)];
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

/** One status of a route: the one error shape, with the codes that it can have here. */
const failureAnswer = (status: FailureStatus, codes: readonly string[]) => ({
  description: `${failureDescriptions[status]}: ${codes.join(', ')}`,
  content: {
    'application/json': {
      schema: failureSchema.and(z.object({ code: z.enum(codes) })),
      examples: Object.fromEntries(codes.map((code) => [code, { value: failureExample(code) }])),
    },
  },
});

/** The failures of a dashboard route. */
export const failures = failuresOf({ ...serviceErrorStatus, PAYLOAD_TOO_LARGE: 413 });

/** Any route may answer these. VALIDATION_FAILED: for a query parameter that is not known, at the least. */
const always = ['VALIDATION_FAILED', 'UNAVAILABLE', 'INTERNAL'] as const;
/** What a body adds. */
export const bodyCodes = ['PAYLOAD_TOO_LARGE'] as const;
/** A route that anyone may call, within its limit. FORBIDDEN: with a cookie, from a foreign page. */
export const openCodes = ['FORBIDDEN', 'RATE_LIMITED', ...always] as const;
/** A route for developers that changes nothing. RATE_LIMITED: at the least after many failed bearer attempts. */
export const readCodes = ['UNAUTHENTICATED', 'RATE_LIMITED', ...always] as const;
/** The same, of figures that are read in turn. */
export const figureCodes = [...readCodes, 'TOO_MANY_READS'] as const;
/** The same, of a list that is searched. */
export const searchCodes = [...figureCodes, 'SEARCH_TOO_BROAD'] as const;
/** A route for developers that changes something. */
export const changeCodes = [...readCodes, 'FORBIDDEN'] as const;

/** Either credential opens a dashboard route. */
const developerSecurity: Record<string, string[]>[] = [{ sessionCookie: [] }, { apiKey: [] }];

/** How the contract tells a route's limit; openapi.ts describes its header fields by it. */
export const limitExtension = 'x-rate-limit';
const limitNote = (name: RateLimitName) => ({
  [limitExtension]: { name, requests: rateLimitDefaults[name], windowSeconds: rateLimitWindowSeconds },
});

/** A route for developers. */
export const forDevelopers = { security: developerSecurity, middleware: [authenticated, ...boundedJson] };

/** A route for developers under a limit of its own. */
export const limitedForDevelopers = (limit: RateLimitName) => ({
  security: developerSecurity,
  middleware: [rateLimit(limit), authenticated, ...boundedJson],
  ...limitNote(limit),
});

/** What the contract says of a route for everyone under a limit. */
export const openContract = (limit: RateLimitName) => ({ security: [], ...limitNote(limit) });

/** A route for everyone under a limit. */
export const limitedForAll = (limit: RateLimitName) => ({
  ...openContract(limit),
  middleware: [rateLimit(limit), ...boundedJson],
});

const idText = z.string().openapi({ format: 'uuid', example: '019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a4d' });

/** `:id` of a path. Text that is no id names nothing, so it is a 404 of the resource and no 400. */
export const idParam = (whose: string) =>
  z.object({
    id: idText.openapi({ param: { in: 'path', name: 'id', description: `Identifier of ${whose}.` } }),
  });

/** A second identifier of a path, below `:id`. */
export const nestedIdParam = (name: string, whose: string) =>
  idText.openapi({ param: { in: 'path', name, description: `Identifier of ${whose}.` } });
