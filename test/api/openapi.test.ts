import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { useServer } from '../setup/use-world.ts';

const server = useServer({ env: { PUBLIC_URL: 'https://licenses.example.com' } });

const document = z.object({
  openapi: z.string(),
  servers: z.array(z.object({ url: z.string() })),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        responses: z.record(z.string(), z.unknown()),
        security: z.array(z.unknown()),
      }),
    ),
  ),
  components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
});
const read = async () => {
  const answer = await new ApiClient(server.baseUrl).get('/api/v1/openapi.json');
  expect(answer.status).toBe(200);
  return document.parse(answer.body);
};

/** Routes that require a credential according to the interface document, as far as these tests cover them. */
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

test('the document is public, and has the server URL and both credentials', async () => {
  const { openapi, servers, components } = await read();
  expect(openapi).toMatch(/^3\.1\./);
  expect(servers).toMatchObject([{ url: 'https://licenses.example.com/api/v1' }]);
  expect(Object.keys(components.securitySchemes).sort()).toEqual(['apiKey', 'sessionCookie']);
});

test('the document has every route, and marks those that require a credential', async () => {
  const { paths } = await read();
  for (const route of [...dashboard, ...open]) {
    const [method = '', path = ''] = route.split(' ');
    const operation = paths[path]?.[method];
    expect(operation, route).toBeDefined();
    expect(operation?.security.length, route).toBe(dashboard.includes(route) ? 2 : 0);
    expect(Object.keys(operation?.responses ?? {}).includes('401'), route).toBe(
      dashboard.includes(route) || route === 'post /auth/login',
    );
  }
});

test('every operation has a unique name', async () => {
  const { paths } = await read();
  const names = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+[A-Z][A-Za-z]+$/);
});

test('the committed document equals this one, with a relative server URL', async () => {
  const answer = await new ApiClient(server.baseUrl).get('/api/v1/openapi.json');
  const committed = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const here = z.looseObject({}).parse(answer.body);
  expect({ ...here, servers: [] }).toEqual({ ...committed, servers: [] });
  expect(committed.servers).toMatchObject([{ url: '/api/v1' }]);
});

test('every documented route exists', async () => {
  const { paths } = await read();
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of Object.keys(operations)) {
      const target = `/api/v1${path.replaceAll(/\{\w+\}/g, '0198c3a0-0000-7000-8000-000000000000')}`;
      const answer = await new ApiClient(server.baseUrl).send(method.toUpperCase(), target);
      expect(JSON.stringify(answer.body), `${method} ${path}`).not.toContain('ROUTE_NOT_FOUND');
    }
  }
});
