import { serviceUrl } from '../../api/paths.ts';

/** Creates an application over REST, with an API key in the environment. */
export const createApplicationCurl = (): string =>
  [
    `curl ${new URL('api/v1/apps/create', serviceUrl)} \\`,
    '  -H "Authorization: Bearer $LATCHKEY_API_KEY" \\',
    `  -H 'Content-Type: application/json' -d '{"name":"Photo Lab"}'`,
  ].join('\n');
