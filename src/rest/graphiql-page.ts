import { createHash } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import type { RestEnv } from './adapter.ts';
import { pageFields } from './content-policy.ts';
import { pageAsset } from './page-asset.ts';

/** Comment lines are at most 45 characters: the editor shows no more in a 1,200-pixel window. */
const firstQuery = `# Welcome to Latchkey: your applications,
# their newest licenses, and what happened.
#
# UNAUTHENTICATED? Log in first: run this in
# a new tab (+), without the #.
#
#   mutation {
#     login(input: {
#       email: "…", password: "…"
#     }) { developer { name } }
#   }
#
# The book at the top left has every field.

query Overview {
  me {
    name
    email
    applications(first: 5) {
      totalCount
      edges {
        node {
          id
          name
          status
          licenses(first: 5) {
            totalCount
            edges { node { keyPrefix status } }
          }
          securityLog(first: 5) {
            edges { node { createdAt event code } }
          }
        }
      }
    }
  }
}
`;

/** Loaded on first use: it is several megabytes, and many operators never open the page. */
const loadLibrary = () => import('@graphql-yoga/render-graphiql/graphiql');

/** The editor's web workers, keyed by the labels that Monaco uses. */
const workers = {
  editorWorkerService: 'editor-worker.js',
  json: 'json-worker.js',
  graphql: 'graphql-worker.js',
} as const;

/** The library, preceded by the globals it reads while loading and followed by the call that renders it. */
const script = (library: string): string => `self.MonacoEnvironment = {
  globalAPI: false,
  getWorkerUrl: (_module, label) => 'graphql/' + ${JSON.stringify(workers)}[label],
};
${library};
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#root'), ${JSON.stringify({
  title: 'Latchkey',
  defaultQuery: firstQuery,
  credentials: 'same-origin',
})});
`;

/** URLs are relative, so the page works under any path prefix. */
const page = (version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Latchkey</title>
<link rel="icon" href="graphql/favicon.ico?v=${version}">
<link rel="stylesheet" href="graphql/graphiql.css?v=${version}">
</head>
<body id="body" class="no-focus-outline">
<noscript>This page needs JavaScript.</noscript>
<div id="root"></div>
<script src="graphql/graphiql.js?v=${version}"></script>
</body>
</html>
`;

/** Cache-busting version: changes with the library and the default query. */
const readVersion = async (): Promise<string> =>
  createHash('sha256')
    .update(script((await loadLibrary()).js))
    .digest('hex')
    .slice(0, 16);

/** Serves GraphiQL to browsers that open `/graphql`; API requests pass through. */
export function graphiqlPage(): MiddlewareHandler<RestEnv> {
  let version: Promise<string> | undefined;
  return async (c, next) => {
    if (!c.req.header('accept')?.includes('text/html')) return next();
    version ??= readVersion();
    return c.body(page(await version), 200, pageFields);
  };
}

const javaScript = 'text/javascript; charset=utf-8';

/** The page's assets, mounted at `/graphql`. */
export function graphiqlAssets(): Hono<RestEnv> {
  const assets = new Hono<RestEnv>();
  const serve = (name: string, type: string, read: () => Promise<string>) =>
    assets.get(
      `/${name}`,
      pageAsset(type, async () => Buffer.from(await read())),
    );
  serve('graphiql.js', javaScript, async () => script((await loadLibrary()).js));
  serve('graphiql.css', 'text/css; charset=utf-8', async () => (await loadLibrary()).css);
  serve(workers.editorWorkerService, javaScript, async () => (await loadLibrary()).editorWorkerService);
  serve(workers.json, javaScript, async () => (await loadLibrary()).jsonWorker);
  serve(workers.graphql, javaScript, async () => (await loadLibrary()).graphqlWorker);
  assets.get(
    '/favicon.ico',
    pageAsset('image/x-icon', async () => {
      const [, base64 = ''] = (await loadLibrary()).favicon.split(',');
      return Buffer.from(base64, 'base64');
    }),
  );
  return assets;
}
