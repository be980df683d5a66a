import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Hono } from 'hono';
import { z } from 'zod';
import type { RestEnv } from './adapter.ts';
import { pageFields } from './content-policy.ts';
import { pageAsset } from './page-asset.ts';

/** Finds the package wherever npm has put it, from `src` and from `dist` alike. */
const packages = createRequire(import.meta.url);
const locate = (file: string): string => packages.resolve(`swagger-ui-dist/${file}`);

/** What is served of the package, and nothing else of it. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Addresses are relative, so that the page works below any path; requests go to the host that served the page, which
 * may be another one than PUBLIC_URL. The validator's badge would be fetched from its maker.
 */
const startScript = `const answer = await fetch('api/v1/openapi.json');
const spec = await answer.json();
spec.servers = [{ url: new URL('api/v1', location.href).pathname }];
SwaggerUIBundle({
  spec,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  showExtensions: true,
  validatorUrl: null,
});
`;

const page = (version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Latchkey API</title>
<link rel="icon" href="docs/favicon-32x32.png?v=${version}">
<link rel="stylesheet" href="docs/swagger-ui.css?v=${version}">
</head>
<body>
<noscript>This page needs JavaScript. The document it shows is <a href="api/v1/openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="docs/swagger-ui-bundle.js?v=${version}"></script>
<script type="module" src="docs/start.js"></script>
</body>
</html>
`;

/** The API reference, mounted at `/docs`: everything that it loads comes from this service. */
export function docsPage(): Hono<RestEnv> {
  const docs = new Hono<RestEnv>();
  docs.get('/', async (c) => {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(await readFile(locate('package.json'), 'utf8')));
    return c.body(page(version), 200, pageFields);
  });
  docs.get('/start.js', (c) =>
    c.body(startScript, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  );
  for (const [name, type] of Object.entries(assets)) {
    docs.get(
      `/${name}`,
      pageAsset(type, () => readFile(locate(name))),
    );
  }
  return docs;
}
