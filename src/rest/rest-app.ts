import { openToAllowedPages, openToAllPages } from './middleware/cors.ts';
import { limitBody } from './middleware/limit-body.ts';
import { requireJson } from './middleware/require-json.ts';
import { strictUtf8 } from './middleware/strict-utf8.ts';
import { openApiHandler, registerComponents } from './openapi.ts';
import { createRouter } from './route.ts';
import { accountRoutes } from './routes/account.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { applicationRoutes } from './routes/applications.ts';
import { authRoutes } from './routes/auth.ts';
import { banRoutes } from './routes/bans.ts';
import { insightRoutes } from './routes/insight.ts';
import { licenseRoutes } from './routes/licenses.ts';
import { userRoutes } from './routes/users.ts';
import { sealedRoutes } from './sealed/routes.ts';

/** The largest body of the client protocol, in bytes (SPEC §6 bounds its ciphertext at a quarter of it). */
const largestSealedBody = 64 * 1024;

const dashboardRoutes = [
  authRoutes,
  applicationRoutes,
  userRoutes,
  banRoutes,
  licenseRoutes,
  insightRoutes,
  accountRoutes,
  apiKeyRoutes,
];

/** Everything under `/api/v1`. */
export function createRestApp(publicUrl: string, corsOrigins: readonly string[]) {
  const api = createRouter();
  registerComponents(api);
  const sealedPaths = ['/session/*', '/licenses/validate', '/client/*'];
  for (const path of sealedPaths) api.use(path, openToAllPages, limitBody(largestSealedBody));
  api.route('/', sealedRoutes);
  api.use(openToAllowedPages(corsOrigins), requireJson, strictUtf8);
  for (const routes of dashboardRoutes) api.route('/', routes);
  api.get('/openapi.json', openApiHandler(api, publicUrl));
  return api;
}
