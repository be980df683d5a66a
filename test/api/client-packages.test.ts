import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import type { RestEnv } from '../../src/rest/adapter.ts';
import { clientPackages } from '../../src/rest/client-packages.ts';
import type { RequestNotes } from '../../src/telemetry/request-notes.ts';
import { useServer } from '../setup/use-world.ts';

const server = useServer();

const notes = (): RequestNotes => ({
  requestId: '',
  method: 'GET',
  transport: 'page',
  route: '',
  code: null,
  ip: '',
  country: null,
  userAgent: undefined,
  developerId: null,
  credential: null,
  applicationId: null,
  operation: null,
  operationKind: null,
});

/** The packages of a folder of the test. */
function createPackages(files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-packages-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const app = new Hono<RestEnv>();
  app.use(async (c, next) => {
    c.set('notes', notes());
    await next();
  });
  app.route('/packages', clientPackages(folder));
  const get = async (path: string, headers: Record<string, string> = {}) =>
    app.request(`/packages/${path}`, { headers });
  return { get, write };
}

test('the newest file of each package is served, and no other file', async () => {
  const { get, write } = createPackages({
    'latchkey-client-0.9.0.tgz': 'old',
    'latchkey-client-0.10.0.tgz': 'new',
    'latchkey-client-other-1.0.0.tgz': 'other',
    'latchkey-management-1.0.0.tgz': 'management',
    'secret.tgz': 'secret',
  });
  const answer = await get('latchkey-client.tgz');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/gzip');
  expect(await answer.text()).toBe('new');
  expect(await (await get('latchkey-management.tgz')).text()).toBe('management');
  for (const path of [
    'secret.tgz',
    'latchkey-client-0.9.0.tgz',
    '../secret.tgz',
    '..%2fpackages%2fsecret.tgz',
    '',
  ]) {
    expect((await get(path)).status, path).toBe(404);
  }

  const etag = answer.headers.get('etag') ?? '';
  const unchanged = await get('latchkey-client.tgz', { 'If-None-Match': etag });
  expect([unchanged.status, await unchanged.text()]).toEqual([304, '']);
  write('latchkey-client-0.11.0.tgz', 'newest');
  const changed = await get('latchkey-client.tgz', { 'If-None-Match': etag });
  expect([changed.status, await changed.text()]).toEqual([200, 'newest']);
});

test('a package that is not built is missing, with the command that builds it', async () => {
  const { get } = createPackages({});
  const answer = await get('latchkey-client.tgz');
  expect(answer.status).toBe(404);
  expect(await answer.json()).toEqual({
    success: false,
    code: 'ROUTE_NOT_FOUND',
    error: expect.stringContaining('npm run pack:clients'),
  });
});

test('the service has both packages, for anyone, or says how to build them', async () => {
  for (const name of ['latchkey-client', 'latchkey-management']) {
    const answer = await fetch(`${server.baseUrl}/packages/${name}.tgz`);
    if (answer.status === 200) expect(answer.headers.get('etag')).toMatch(/^"/);
    else
      expect(await answer.json()).toMatchObject({ error: expect.stringContaining('npm run pack:clients') });
  }
});
