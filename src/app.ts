import { Hono } from 'hono';
import type { RouterRoute } from 'hono/types';
import { getPath } from 'hono/utils/url';
import type { Deps } from './deps.ts';
import type { GraphqlHandler } from './graphql/handler.ts';
import { type RestEnv, serviceContext } from './rest/adapter.ts';
import { clientPackages } from './rest/client-packages.ts';
import { dashboard } from './rest/dashboard.ts';
import { findDashboard } from './rest/dashboard-files.ts';
import { docsPage } from './rest/docs-page.ts';
import { answerError, answerNotFound } from './rest/errors.ts';
import { graphiqlAssets, graphiqlPage } from './rest/graphiql-page.ts';
import { createCommonFields, fixedFields, type HeaderFields, setFields } from './rest/header-fields.ts';
import { createAllowedOrigins } from './rest/middleware/allowed-origins.ts';
import { identified } from './rest/middleware/authenticate.ts';
import { createClientOrigin } from './rest/middleware/client-origin.ts';
import { corsForAllowedOrigins } from './rest/middleware/cors.ts';
import { readIdempotencyKey, replayedHeader } from './rest/middleware/idempotency-key.ts';
import { limitBodyByActor, maxBodyBytes } from './rest/middleware/limit-body.ts';
import { originGuard } from './rest/middleware/origin-guard.ts';
import { requireJson } from './rest/middleware/require-json.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from './rest/middleware/session-cookie.ts';
import { createRequestContext, exchangeOf, routeOf, transportOf } from './rest/request-context.ts';
import { createRestApp } from './rest/rest-app.ts';
import { createClientApp } from './rest/sealed/client-app.ts';
import { createKeyApp } from './rest/sealed/key-routes.ts';
import { startPage } from './rest/start-page.ts';
import { createRequestLog } from './telemetry/request-log.ts';
import { createRequestObserver } from './telemetry/request-observer.ts';

export interface App {
  readonly fetch: Hono<RestEnv>['fetch'];
  /** All routes. */
  readonly routes: readonly RouterRoute[];
  /** Header fields of every response, for responses to malformed requests. */
  readonly fixedFields: HeaderFields;
}

/** Creates the HTTP application: health, documentation, client packages, GraphQL, REST under `/api/v1`, and the client protocol. */
export function createApp({ config, services, countryOfIp, telemetry, readiness }: Deps): App {
  const originOf = createClientOrigin({
    trustProxy: config.trustProxy,
    country: { header: config.countryHeader, lookUp: countryOfIp },
    log: services.log,
  });
  const { publicUrl, corsOrigins } = config;
  const origins = createAllowedOrigins({ publicUrl, corsOrigins, clock: services.clock, log: services.log });
  const forAllowedPages = corsForAllowedOrigins(origins);
  const commonFields = createCommonFields(config.publicUrl);
  const app = new Hono<RestEnv>();
  app.onError(answerError);
  app.notFound(answerNotFound);

  const begin = createRequestContext({
    env: services,
    originOf,
    observe: createRequestObserver(telemetry.requests, createRequestLog(services.log)),
  });
  app.use(async (c, next) => {
    const route = routeOf(c);
    begin(c, transportOf(route), route);
    setFields(c, commonFields(c.get('requestId')));
    await next();
  });
  app.use(originGuard(origins));

  const files = findDashboard();
  if (files === null)
    services.log.warn('This build has no dashboard: /app says so. `npm run build` adds it.');
  app.get('/', startPage(files !== null));
  app.route('/app', dashboard(files));
  app.get('/health', (c) => c.json({ ok: true, service: 'latchkey' }));
  app.get('/health/ready', (c) => {
    const report = readiness.report();
    return c.json(report, report.ready ? 200 : 503);
  });
  app.route('/api/v1', createRestApp(config.publicUrl, forAllowedPages));
  app.route('/', createKeyApp());
  app.route('/docs', docsPage());
  app.route('/packages', clientPackages());

  /** Loaded when it is first asked for: it takes a fifth of a start and 30 MB, and many services are never asked. */
  let graphql: Promise<GraphqlHandler> | undefined;
  app.get('/graphql', graphiqlPage());
  app.route('/graphql', graphiqlAssets());
  app.use('/graphql', forAllowedPages, requireJson, identified, limitBodyByActor(maxBodyBytes));
  app.on(['GET', 'POST', 'OPTIONS'], '/graphql', async (c) => {
    const cookies: string[] = [];
    graphql ??= import('./graphql/handler.ts').then((graphql) => graphql.createGraphqlHandler(services));
    const answer = await graphql;
    const { body, status, headers } = await answer(c.req.raw, {
      service: serviceContext(c),
      requestId: c.get('requestId'),
      notes: c.get('notes'),
      session: {
        token: readSessionCookie(c),
        start: (token) => cookies.push(sessionCookie(token, config.publicUrl)),
        end: () => cookies.push(clearedSessionCookie(config.publicUrl)),
      },
      idempotencyKey: readIdempotencyKey(c),
      replayed: () => c.header(replayedHeader, 'true'),
      breakOff: () => exchangeOf(c)?.outgoing.destroy(),
    });
    const last = cookies.at(-1);
    if (last !== undefined) headers.append('Set-Cookie', last);
    // Hono's own Response includes the header fields that were set above.
    return c.newResponse(body, new Response(null, { status, headers }));
  });

  const client = createClientApp(begin, commonFields);
  const clientPaths = new Set(client.routes.map(({ path }) => path));
  return {
    routes: [...app.routes, ...client.routes],
    fixedFields: fixedFields(config.publicUrl),
    fetch: (request, ...rest) =>
      request.method === 'POST' && clientPaths.has(getPath(request))
        ? client.fetch(request, ...rest)
        : app.fetch(request, ...rest),
  };
}
