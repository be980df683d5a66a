import { Hono } from 'hono';
import type { RestEnv } from './adapter.ts';
import type { DashboardFiles } from './dashboard-files.ts';
import { pageAsset } from './page-asset.ts';

/**
 * Content-Security-Policy of the dashboard: everything comes from this service, and nothing is inline. Trusted Types
 * refuse text as HTML or script, so that a text from a customer's program can never run.
 */
export const dashboardPolicy: string = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': dashboardPolicy,
  // The page names the files of this build.
  'Cache-Control': 'no-cache',
} as const;

/** Where the files and routes of the dashboard begin, as seen from a path below `/app`: URLs stay relative (any prefix). */
export function baseOf(path: string): string {
  const below = path.split('/').length - 2;
  return below === 0 ? 'app/' : below === 1 ? './' : '../'.repeat(below - 1);
}

const withBase = (page: string, base: string): string =>
  page.replace('<head>', `<head>\n<base href="${base}">`);

const missing = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Latchkey</title>
</head>
<body>
<h1>This build has no dashboard</h1>
<p>The operator can add it with <code>npm run build</code>. REST, GraphQL and the command line work without it.</p>
</body>
</html>
`;

/**
 * The dashboard, mounted at `/app`: its files, and its page at every other path, because its routes are in the browser.
 * @param files null if this build has none: then `/app` says so
 */
export function dashboard(files: DashboardFiles | null): Hono<RestEnv> {
  const app = new Hono<RestEnv>();
  if (files === null) return app.get('/*', (c) => c.body(missing, 404, pageHeaders));
  const assets = new Map(
    files.assets.map(({ name, contentType, read }) => [name, pageAsset(contentType, read)]),
  );
  // A file of an earlier build is not found: it must not get the page.
  app.get('/assets/:name', async (c, next) => assets.get(c.req.param('name'))?.(c, next) ?? c.notFound());
  app.get('/assets/*', (c) => c.notFound());
  app.get('/*', (c) => c.body(withBase(files.page, baseOf(c.req.path)), 200, pageHeaders));
  return app;
}
