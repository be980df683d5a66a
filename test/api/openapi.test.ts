import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { PUBLIC_URL: 'https://licenses.example.com' } });
});
afterAll(() => server.close());

const document = z.object({
  openapi: z.string(),
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ responses: z.record(z.string(), z.unknown()), security: z.unknown().optional() }),
    ),
  ),
  components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
});
const read = async () => {
  const answer = await new ApiClient(server.baseUrl).get('/api/v1/openapi.json');
  expect(answer.status).toBe(200);
  return document.parse(answer.body);
};

/** What the interface document marks as needing a credential, of the routes that these tests cover. */
const dashboard = [
  'get /auth/me',
  'post /apps/create',
  'get /apps/',
  'get /apps/{id}',
  'delete /apps/{id}',
  'patch /apps/{id}/settings',
  'get /apps/{id}/licenses',
  'post /licenses/create',
  'post /licenses/{id}/ban',
  'post /account/api-keys',
];
const open = ['post /auth/register', 'post /auth/login', 'post /auth/logout'];

test('the document is open to all, and has the address and both credentials', async () => {
  const { openapi, servers, components } = await read();
  expect(openapi).toMatch(/^3\.1\./);
  expect(servers).toEqual([{ url: 'https://licenses.example.com/api/v1' }]);
  expect(Object.keys(components.securitySchemes).sort()).toEqual(['apiKey', 'sessionCookie']);
});

test('the document has every route, and which of them need a credential', async () => {
  const { paths } = await read();
  for (const route of [...dashboard, ...open]) {
    const [method = '', path = ''] = route.split(' ');
    const operation = paths[path]?.[method];
    expect(operation, route).toBeDefined();
    expect(operation?.security !== undefined, route).toBe(dashboard.includes(route));
    expect(Object.keys(operation?.responses ?? {}).includes('401'), route).toBe(
      dashboard.includes(route) || route === 'post /auth/login',
    );
  }
});

test('every route of the document is there', async () => {
  const { paths } = await read();
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of Object.keys(operations)) {
      const target = `/api/v1${path.replaceAll(/\{\w+\}/g, '0198c3a0-0000-7000-8000-000000000000')}`;
      const answer = await new ApiClient(server.baseUrl).send(method.toUpperCase(), target);
      expect(JSON.stringify(answer.body), `${method} ${path}`).not.toContain('ROUTE_NOT_FOUND');
    }
  }
});
