import type { MiddlewareHandler } from 'hono';
import type { RestEnv } from './adapter.ts';
import { pageFields } from './content-policy.ts';

const links = [
  {
    href: 'graphql',
    name: 'Console',
    what: 'GraphiQL: create an account, applications and license keys over GraphQL, with documentation for every field.',
  },
  { href: 'docs', name: 'API reference', what: 'Read about the REST API and try it.' },
  { href: 'api/v1/openapi.json', name: 'OpenAPI document', what: 'For REST client generators.' },
  { href: 'health/ready', name: 'Health', what: 'Status of the service and its dependencies.' },
] as const;

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto 4rem; padding: 0 1.25rem; }
h1 { margin: 0; font-size: 2rem; letter-spacing: -0.02em; }
p { margin: 0.25rem 0 0; opacity: 0.75; }
ul { list-style: none; margin: 2rem 0; padding: 0; display: grid; gap: 0.75rem; }
a { display: block; padding: 0.9rem 1.1rem; border: 1px solid color-mix(in srgb, currentColor 18%, transparent);
  border-radius: 0.6rem; color: inherit; text-decoration: none; }
a:hover, a:focus-visible { border-color: #3b6cf6; outline: none; box-shadow: 0 0 0 1px #3b6cf6; }
strong { color: light-dark(#2450d3, #8eabff); }
`;

/** URLs are relative, so the page works under any path prefix. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Latchkey</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Latchkey</h1>
<p>License keys for your programs, on your server. The service is running.</p>
<ul>
${links.map(({ href, name, what }) => `<li><a href="${href}"><strong>${name}</strong><p>${what}</p></a></li>`).join('\n')}
</ul>
</main>
</body>
</html>
`;

/**
 * Leads browsers that open `/` to the dashboard, or in a build without it to a page with links. Other clients get
 * ROUTE_NOT_FOUND.
 */
export const startPage =
  (hasDashboard: boolean): MiddlewareHandler<RestEnv> =>
  async (c, next) => {
    if (!c.req.header('accept')?.includes('text/html')) return next();
    return hasDashboard ? c.redirect('app/') : c.body(page, 200, pageFields);
  };
