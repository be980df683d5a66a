import { Hono } from 'hono';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { answerError, answerNotFound } from '../errors.ts';
import { type CommonFields, type HeaderFields, rateLimitFields, setFields } from '../header-fields.ts';
import { openFieldsFor } from '../middleware/cors.ts';
import { limitBody } from '../middleware/limit-body.ts';
import { takePoint } from '../middleware/rate-limit.ts';
import type { BeginRequest } from '../request-context.ts';
import { type ClientRoute, clientRoutes } from './routes.ts';

/** The largest body of the client protocol, in bytes (SPEC §6 bounds its ciphertext at a quarter of it). */
const largestBody = 64 * 1024;
const boundBody = limitBody(largestBody);
const goOn = async (): Promise<void> => undefined;

/**
 * What the client protocol posts, by one handler a route and without the middleware around all others: a program that
 * starts waits for it. No cookie means anything here, so that no origin has to be asked for.
 * @param begin notes what every handler reads of a request
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
    setFields(c, { ...commonFields(c.get('requestId')), ...openFieldsFor(c) });
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
  ...openFieldsFor(c),
});
