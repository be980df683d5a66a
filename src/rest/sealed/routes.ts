import { createRoute } from '@hono/zod-openapi';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import {
  type FailureVerdictCode,
  sealedRequest,
  sessionInitRequest,
  sessionInitResponse,
} from '../../protocol/messages.ts';
import { type ClientVerb, clientVerbs } from '../../services/client-session/client-verbs.ts';
import { initSession } from '../../services/client-session/init.ts';
import { ServiceError } from '../../services/errors.ts';
import { serviceContext } from '../adapter.ts';
import { rateLimit } from '../middleware/rate-limit.ts';
import { createRouter, failures, jsonAnswer, jsonBody } from '../route.ts';
import { refusalSchema, sealedAnswerSchema } from '../schemas.ts';
import { readClientBody, readJson } from './read-client-body.ts';

const tags = ['Client protocol'];

const sessionInitRoute = createRoute({
  method: 'post',
  path: '/session/init',
  tags,
  summary: 'Open a sealed session',
  request: { body: jsonBody(sessionInitRequest) },
  responses: {
    200: jsonAnswer('The session, signed', sessionInitResponse),
    403: jsonAnswer('APP_DISABLED, APP_OUTDATED or IP_BANNED', refusalSchema),
    ...failures(400, 404, 413, 429, 503),
  },
});

/** A sealed route: its contract, the limit it draws on, and what it asks for. */
interface SealedRoute {
  readonly path: string;
  readonly limit: RateLimitName;
  readonly summary: string;
  readonly verb: ClientVerb;
}

const routes: readonly SealedRoute[] = [
  {
    path: '/licenses/validate',
    limit: 'validate',
    summary: 'Validate a license: the verdict is inside the sealed answer',
    verb: clientVerbs.validate,
  },
  {
    path: '/client/register',
    limit: 'clientAuth',
    summary: 'Register an end user and log him in',
    verb: clientVerbs.register,
  },
  { path: '/client/login', limit: 'clientAuth', summary: 'Log an end user in', verb: clientVerbs.login },
  {
    path: '/client/upgrade',
    limit: 'clientAuth',
    summary: 'Give an end user a license of a higher tier',
    verb: clientVerbs.upgrade,
  },
];

/**
 * The client protocol. Bodies are read here and not by the router's validator: the order of its refusals is the
 * specification's, and it is the hot path.
 */
export const sealedRoutes = createRouter();

sealedRoutes.openAPIRegistry.registerPath(sessionInitRoute);
sealedRoutes.post('/session/init', rateLimit('session'), async (c) => {
  const parsed = sessionInitRequest.safeParse(await readJson(c));
  if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
  const outcome = await initSession({ ctx: serviceContext(c), input: parsed.data });
  if (outcome.accepted) return c.json(outcome.answer);
  return c.json({ success: false, error: outcome.message, code: outcome.code }, 403);
});

for (const { path, limit, summary, verb } of routes) {
  sealedRoutes.openAPIRegistry.registerPath(sealedContract(path, summary));
  sealedRoutes.post(path, rateLimit(limit), async (c) => {
    const ctx = serviceContext(c);
    const body = await readClientBody(c);
    if (body.sealed) return c.json(await verb.sealed(ctx, body.envelope));
    const outcome = await verb.plain(ctx, body.plain);
    if (outcome.success) return c.json(outcome);
    const { message: error, ...refusal } = outcome;
    return c.json({ ...refusal, error }, plainStatus(outcome.code));
  });
}

function sealedContract(path: string, summary: string) {
  return createRoute({
    method: 'post',
    path,
    tags,
    summary,
    request: { body: jsonBody(sealedRequest) },
    responses: {
      200: jsonAnswer('A sealed and signed result', sealedAnswerSchema),
      ...failures(400, 401, 413, 429, 503),
    },
  });
}

/** HTTP status of a refusal in the plaintext test form: what the dashboard answers for the same codes. */
function plainStatus(code: FailureVerdictCode): 400 | 401 | 403 | 404 | 409 {
  switch (code) {
    case 'VALIDATION_FAILED':
    case 'LICENSE_REQUIRED':
      return 400;
    case 'INVALID_CREDENTIALS':
      return 401;
    case 'LICENSE_NOT_FOUND':
    case 'USER_NOT_FOUND':
      return 404;
    case 'USERNAME_TAKEN':
      return 409;
    default:
      return 403;
  }
}
