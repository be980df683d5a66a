import { Hono } from 'hono';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { answerError, answerNotFound } from '../errors.ts';
import { type CommonFields, type HeaderFields, rateLimitFields, setFields } from '../header-fields.ts';
import { corsFieldsFor } from '../middleware/cors.ts';
import { limitBody } from '../middleware/limit-body.ts';
import { takePoint } from '../middleware/rate-limit.ts';
import type { BeginRequest } from '../request-context.ts';
import { type ClientRoute, clientRoutes } from './routes.ts';

/** Body limit of the client protocol in bytes. SPEC §6 limits the ciphertext to a quarter of it. */
const largestBody = 64 * 1024;
const boundBody = limitBody(largestBody);
const goOn = async (): Promise<void> => undefined;

/**
 * The POST routes of the client protocol: one handler each, without the middleware of other routes, because programs
 * wait for these responses at startup. They use no cookies, so origins need no check.
 * @param begin sets up the request's context
 */
export function createClientApp(begin: BeginRequest, commonFields: CommonFields): Hono<RestEnv> {
  const app = new Hono<RestEnv>({ router: new RegExpRouter() });
  for (const route of clientRoutes) {
    const pattern = `/api/v1${route.path}`;
    app.post(pattern, (c) => {
      begin(c, 'sealed', pattern);
      return answer(c, route, commonFields);
    });
  }
  app.notFound(answerNotFound);
  app.onError((error, c) => {
    setFields(c, { ...commonFields(c.get('requestId')), ...corsFieldsFor(c) });
    return answerError(error, c);
  });
  return app;
}

async function answer(c: RestContext, route: ClientRoute, commonFields: CommonFields): Promise<Response> {
  await boundBody(c, goOn);
  const outcome = await takePoint(c, route.limit);
  try {
    const { status, body } = await route.answer(c);
    const common = commonFields(c.get('requestId'));
    return new Response(JSON.stringify(body), { status, headers: fieldsOf(c, common, outcome) });
  } catch (error) {
    setFields(c, rateLimitFields(outcome));
    throw error;
  }
}

const fieldsOf = (
  c: RestContext,
  common: HeaderFields,
  outcome: RateLimitOutcome,
): Record<string, string> => ({
  'Content-Type': 'application/json',
  ...common,
  ...rateLimitFields(outcome),
  ...corsFieldsFor(c),
});
