import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Hono } from 'hono';
import { z } from 'zod';
import type { RestEnv } from './adapter.ts';
import { pageFields } from './content-policy.ts';
import { pageAsset } from './page-asset.ts';

/** Resolves the package from wherever npm installed it; works from both `src` and `dist`. */
const packages = createRequire(import.meta.url);
const locate = (file: string): string => packages.resolve(`swagger-ui-dist/${file}`);

/** The package's files that are served; all others are not. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * URLs are relative, so the page works under any path prefix. Requests go to the host that served the page, which may
 * differ from PUBLIC_URL. `validatorUrl: null` because the validator badge would be loaded from a third party.
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
<noscript>This page needs JavaScript. The document behind it is <a href="api/v1/openapi.json">openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="docs/swagger-ui-bundle.js?v=${version}"></script>
<script type="module" src="docs/start.js"></script>
</body>
</html>
`;

/** The API reference, mounted at `/docs`. Everything it loads comes from this service. */
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
