import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Hono } from 'hono';
import { z } from 'zod';
import type { RestEnv } from './adapter.ts';

/** Finds the package wherever npm has put it, from `src` and from `dist` alike. */
const packages = createRequire(import.meta.url);
const locate = (file: string): string => packages.resolve(`swagger-ui-dist/${file}`);

/** What is served of the package, and nothing else of it. */
const assets: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The page asks for a file with its version, so what it got may be kept for as long as a browser likes. */
const keptForAYear = 'public, max-age=31536000, immutable';

/** The page may load from here alone, and ask this service alone. Its library sets styles on elements. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
    return c.body(page(version), 200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy,
    });
  });
  docs.get('/start.js', (c) =>
    c.body(startScript, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  );
  for (const [name, type] of Object.entries(assets)) {
    let asset: Promise<Asset> | undefined;
    docs.get(`/${name}`, async (c) => {
      asset ??= readAsset(name);
      const { plain, gzipped } = await asset;
      const headers = { 'Content-Type': type, 'Cache-Control': keptForAYear, Vary: 'Accept-Encoding' };
      return /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
        ? c.body(gzipped, 200, { ...headers, 'Content-Encoding': 'gzip' })
        : c.body(plain, 200, headers);
    });
  }
  return docs;
}

/** A file as it is sent. */
interface Asset {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

/** Read and compressed once: the library is 1.7 MB, which nobody should have compressed for him again and again. */
async function readAsset(name: string): Promise<Asset> {
  const file = await readFile(locate(name));
  return { plain: new Uint8Array(file), gzipped: new Uint8Array(await promisify(gzip)(file)) };
}
