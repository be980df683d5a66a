import { Hono } from 'hono';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import type { RestContext, RestEnv } from '../adapter.ts';
import { answerError, answerNotFound } from '../errors.ts';
import { type CommonFields, type HeaderFields, rateLimitFields, setFields } from '../header-fields.ts';
import { corsFieldsFor } from '../middleware/cors.ts';
import { takePoint } from '../middleware/rate-limit.ts';
import type { BeginRequest } from '../request-context.ts';
import { callRoute } from './call-route.ts';
import type { ClientRoute } from './client-route.ts';
import { clientRoutes } from './routes.ts';

const goOn = async (): Promise<void> => undefined;

/**
 * The POST routes of the client protocol: one handler each, without the middleware of other routes, because programs
 * wait for these responses at startup. They use no cookies, so origins need no check.
 * @param begin sets up the request's context
 */
export function createClientApp(begin: BeginRequest, commonFields: CommonFields): Hono<RestEnv> {
  const app = new Hono<RestEnv>({ router: new RegExpRouter() });
  for (const route of [...clientRoutes, callRoute]) {
    app.post(route.pattern, (c) => {
      begin(c, 'sealed', route.pattern);
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
  await route.boundBody(c, goOn);
  const outcome = await takePoint(c, route.limit);
  try {
    const { status, type, body, reached = null } = await route.answer(c);
    const common = commonFields(c.get('requestId'));
    return new Response(body, { status, headers: fieldsOf(c, type, common, reached ?? outcome) });
  } catch (error) {
    setFields(c, rateLimitFields(outcome));
    throw error;
  }
}

const fieldsOf = (
  c: RestContext,
  type: string,
  common: HeaderFields,
  outcome: RateLimitOutcome,
): Record<string, string> => ({
  'Content-Type': type,
  ...common,
  ...rateLimitFields(outcome),
  ...corsFieldsFor(c),
});
