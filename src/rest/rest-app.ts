import { openToAllowedPages, openToAllPages } from './middleware/cors.ts';
import { limitBody } from './middleware/limit-body.ts';
import { requireJson } from './middleware/require-json.ts';
import { strictUtf8 } from './middleware/strict-utf8.ts';
import { openApiDocument, registerSecuritySchemes } from './openapi.ts';
import { createRouter } from './route.ts';
import { accountRoutes } from './routes/account.ts';
import { applicationRoutes } from './routes/applications.ts';
import { authRoutes } from './routes/auth.ts';
import { licenseRoutes } from './routes/licenses.ts';
import { sealedRoutes } from './sealed/routes.ts';

/** The largest request body of the API, in bytes: ten thousand hashed keys of a blind mint fit. */
const largestBody = 8 * 1024 * 1024;
/** The largest body of the client protocol, in bytes (SPEC §6 bounds its ciphertext at a quarter of it). */
const largestSealedBody = 64 * 1024;

/** Everything under `/api/v1`. */
export function createRestApp(publicUrl: string, corsOrigins: readonly string[]) {
  const api = createRouter();
  registerSecuritySchemes(api);
  const sealedPaths = ['/session/*', '/licenses/validate', '/client/*'];
  for (const path of sealedPaths) api.use(path, openToAllPages, limitBody(largestSealedBody));
  api.use(limitBody(largestBody));
  api.route('/', sealedRoutes);
  api.use(openToAllowedPages(corsOrigins), requireJson, strictUtf8);
  api.route('/', authRoutes);
  api.route('/', applicationRoutes);
  api.route('/', licenseRoutes);
  api.route('/', accountRoutes);
  api.get('/openapi.json', (c) => c.json(openApiDocument(api, publicUrl)));
  return api;
}
