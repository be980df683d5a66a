import type { MiddlewareHandler } from 'hono';
import type { RestEnv } from './adapter.ts';
import { corsForAllOrigins } from './middleware/cors.ts';
import { requireJson } from './middleware/require-json.ts';
import { strictUtf8 } from './middleware/strict-utf8.ts';
import { openApiHandler, registerComponents } from './openapi.ts';
import { createRouter } from './route.ts';
import { accountRoutes } from './routes/account.ts';
import { accountSecurityRoutes } from './routes/account-security.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { applicationRoutes } from './routes/applications.ts';
import { authRoutes } from './routes/auth.ts';
import { banRoutes } from './routes/bans.ts';
import { deviceRoutes } from './routes/devices.ts';
import { eventRoutes } from './routes/events.ts';
import { explainRoutes } from './routes/explain.ts';
import { insightRoutes } from './routes/insight.ts';
import { licenseBulkRoutes } from './routes/license-bulk.ts';
import { licenseLifeRoutes } from './routes/license-life.ts';
import { licenseRoutes } from './routes/licenses.ts';
import { policyRoutes } from './routes/policies.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { userRoutes } from './routes/users.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { clientPaths, registerClientRoutes } from './sealed/routes.ts';

const dashboardRoutes = [
  authRoutes,
  applicationRoutes,
  userRoutes,
  banRoutes,
  licenseRoutes,
  explainRoutes,
  licenseLifeRoutes,
  policyRoutes,
  deviceRoutes,
  licenseBulkRoutes,
  insightRoutes,
  eventRoutes,
  accountRoutes,
  accountSecurityRoutes,
  sessionRoutes,
  apiKeyRoutes,
  webhookRoutes,
];

/**
 * Everything under `/api/v1` except the POST routes of the client protocol (sealed/client-app.ts).
 * @param corsForAllowedOrigins CORS middleware for the configured origins (middleware/cors.ts)
 */
export function createRestApp(publicUrl: string, corsForAllowedOrigins: MiddlewareHandler<RestEnv>) {
  const api = createRouter();
  registerComponents(api);
  registerClientRoutes(api);
  for (const path of clientPaths) api.use(path, corsForAllOrigins('POST'));
  api.use(corsForAllowedOrigins, requireJson, strictUtf8);
  for (const routes of dashboardRoutes) api.route('/', routes);
  api.get('/openapi.json', openApiHandler(api, publicUrl));
  return api;
}
