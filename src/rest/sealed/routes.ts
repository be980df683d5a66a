import { createRoute } from '@hono/zod-openapi';
import { sealedRequest, sessionInitRequest, sessionInitResponse } from '../../protocol/messages.ts';
import { initSession } from '../../services/client-session/init.ts';
import { plainValidateInput, validatePlain } from '../../services/client-session/validate-plain.ts';
import { validateSealed } from '../../services/client-session/validate-sealed.ts';
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

const validateRoute = createRoute({
  method: 'post',
  path: '/licenses/validate',
  tags,
  summary: 'Validate a license: the verdict is inside the sealed answer',
  request: { body: jsonBody(sealedRequest) },
  responses: {
    200: jsonAnswer('A sealed and signed verdict', sealedAnswerSchema),
    ...failures(400, 401, 413, 429, 503),
  },
});

/**
 * The client protocol. Bodies are read here and not by the router's validator: the order of its refusals is the
 * specification's, and it is the hot path.
 */
export const sealedRoutes = createRouter();
sealedRoutes.openAPIRegistry.registerPath(sessionInitRoute);
sealedRoutes.openAPIRegistry.registerPath(validateRoute);

sealedRoutes.post('/session/init', rateLimit('session'), async (c) => {
  const parsed = sessionInitRequest.safeParse(await readJson(c));
  if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
  const outcome = await initSession({ ctx: serviceContext(c), input: parsed.data });
  if (outcome.accepted) return c.json(outcome.answer);
  return c.json({ success: false, error: outcome.message, code: outcome.code }, 403);
});

sealedRoutes.post('/licenses/validate', rateLimit('validate'), async (c) => {
  const ctx = serviceContext(c);
  const body = await readClientBody(c);
  if (body.sealed) return c.json(await validateSealed({ ctx, input: body.envelope }));
  const parsed = plainValidateInput.safeParse(body.plain);
  if (!parsed.success) throw ServiceError.invalidInput(parsed.error.issues);
  const outcome = await validatePlain({ ctx, input: parsed.data });
  if (outcome.success) return c.json(outcome);
  const { message: error, ...refusal } = outcome;
  return c.json({ ...refusal, error }, outcome.code === 'LICENSE_NOT_FOUND' ? 404 : 403);
});
