import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { logStatements } from '../setup/statements.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  apiKeyAnswer,
  apiKeysAnswer,
  developerAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  missingId,
} from './support.ts';

const { server, world } = useWorld();

const prisma = () => server.deps.services.database.prisma;
const createKey = async (client = world.client, name = 'build server') =>
  expectSuccess(await client.post('/api/v1/account/api-keys', { name }), 201, apiKeyAnswer);
const withKey = (bearer: string) => new ApiClient(server.baseUrl, { bearer });

test('a new key is shown only once, and the database has only its SHA-256 and a short prefix', async () => {
  const { key, warning } = await createKey();
  expect(key.name).toBe('build server');
  expect(key.apiKey).toMatch(/^service_live_[A-Za-z0-9_-]{43}$/);
  expect(key.apiKey.startsWith(key.keyPrefix)).toBe(true);
  expect(key.keyPrefix.length).toBeLessThanOrEqual('service_live_'.length + 8);
  expect(warning).not.toBe('');
  const row = await prisma().apiKey.findUniqueOrThrow({ where: { id: key.id } });
  expect(Buffer.from(row.keyHash)).toEqual(createHash('sha256').update(key.apiKey).digest());
  expect(row).toMatchObject({ developerId: world.developer.id, keyPrefix: key.keyPrefix, revokedAt: null });
  expect(JSON.stringify({ ...row, keyHash: null })).not.toContain(key.apiKey.slice(key.keyPrefix.length));
});

test('creating a key is logged without the key', async () => {
  const { key } = await createKey(world.client, 'recorded');
  const entry = await prisma().securityLogEntry.findFirstOrThrow({
    where: { developerId: world.developer.id, event: 'api_key_created' },
    orderBy: { id: 'desc' },
  });
  expect(entry).toMatchObject({ ip: world.client.ip, metadata: { apiKeyId: key.id, name: 'recorded' } });
  expect(JSON.stringify(entry)).not.toContain(key.apiKey);
});

test('names may be equal, keys are unique', async () => {
  const keys = await Promise.all([createKey(), createKey(), createKey()]);
  expect(new Set(keys.map(({ key }) => key.apiKey)).size).toBe(3);
});

test('a key authenticates as its developer on every dashboard route', async () => {
  const { key } = await createKey();
  const client = withKey(key.apiKey);
  const me = expectSuccess(await client.get('/api/v1/auth/me'), 200, developerAnswer);
  expect(me.developer.id).toBe(world.developer.id);

  const created = await client.post('/api/v1/apps/create', { name: 'By key' });
  expect(created.status).toBe(201);
  const { id } = (created.body as { application: { id: string } }).application;
  expect((await client.get('/api/v1/apps/')).status).toBe(200);
  expect((await client.get(`/api/v1/apps/${id}`)).status).toBe(200);
  expect((await client.patch(`/api/v1/apps/${id}/settings`, { version: '2' })).status).toBe(200);
  const mint = { applicationId: id, amount: 1, durationSeconds: 0 };
  const minted = await client.post('/api/v1/licenses/create', mint);
  expect(minted.status).toBe(201);
  const [license] = (minted.body as { keys: { id: string }[] }).keys;
  expect((await client.get(`/api/v1/apps/${id}/licenses`)).status).toBe(200);
  expect((await client.post(`/api/v1/licenses/${license?.id}/ban`)).status).toBe(200);
  await createKey(client, 'made by a key');
  expect((await client.delete(`/api/v1/apps/${id}`)).status).toBe(200);
});

test('a key has no access beyond its developer', async () => {
  const { key } = await createKey();
  const other = await createWorld(server);
  const { id } = await other.createApplication();
  expectFailure(await withKey(key.apiKey).get(`/api/v1/apps/${id}`), 404, 'APP_NOT_FOUND');
});

test('the scheme is case-insensitive, the key is not', async () => {
  const { key } = await createKey();
  const ask = (authorization: string) =>
    new ApiClient(server.baseUrl, { headers: { Authorization: authorization } }).get('/api/v1/auth/me');
  for (const good of [`bearer ${key.apiKey}`, `BEARER ${key.apiKey}`, `Bearer   ${key.apiKey}`]) {
    expect((await ask(good)).status, good.slice(0, 10)).toBe(200);
  }
  const [head, tail] = [key.apiKey.slice(0, 20), key.apiKey.slice(20)];
  const bad = [
    key.apiKey,
    `Basic ${Buffer.from(`:${key.apiKey}`).toString('base64')}`,
    `Bearer`,
    `Bearer ${key.keyPrefix}`,
    `Bearer ${key.apiKey}=`,
    `Bearer ${key.apiKey.slice(0, -1)}`,
    `Bearer ${head} ${tail}`,
    `Bearer ${key.apiKey.toUpperCase()}`,
    `Bearer ${key.apiKey.replace('service_live_', '')}`,
    `Bearer ${createHash('sha256').update(key.apiKey).digest('hex')}`,
    `Bearer "${key.apiKey}"`,
    `Bearer ${'a'.repeat(6_000)}`,
    `Bearer ' OR 1=1 --`,
  ];
  for (const authorization of bad) {
    expectFailure(await ask(authorization), 401, 'UNAUTHENTICATED');
  }
});

test('a key sent as a cookie, or a cookie sent as a key, does not authenticate', async () => {
  const { key } = await createKey();
  const asCookie = new ApiClient(server.baseUrl, { cookie: key.apiKey });
  expectFailure(await asCookie.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
});

test('a revoked key does not authenticate, and raising session_version does not affect keys', async () => {
  const { key } = await createKey();
  const client = withKey(key.apiKey);
  await prisma().developer.update({
    where: { id: world.developer.id },
    data: { sessionVersion: { increment: 1 } },
  });
  expect((await client.get('/api/v1/auth/me')).status).toBe(200);
  await prisma().apiKey.update({ where: { id: key.id }, data: { revokedAt: new Date() } });
  expectFailure(await client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  await prisma().developer.update({ where: { id: world.developer.id }, data: { sessionVersion: 0 } });
});

test('creating a key requires a credential and a name', async () => {
  expectFailure(
    await new ApiClient(server.baseUrl).post('/api/v1/account/api-keys', { name: 'key' }),
    401,
    'UNAUTHENTICATED',
  );
  expectIssue(await world.client.post('/api/v1/account/api-keys', {}), 'name');
});

const list = async (client = world.client) =>
  expectSuccess(await client.get('/api/v1/account/api-keys'), 200, apiKeysAnswer).keys;
const revoke = (id: string, client = world.client) => client.post(`/api/v1/account/api-keys/${id}/revoke`);
const revocations = () =>
  prisma().securityLogEntry.findMany({
    where: { developerId: world.developer.id, event: 'api_key_revoked' },
    orderBy: { id: 'asc' },
  });

test('the list has the metadata of keys, newest first, and no token', async () => {
  const owner = await createWorld(server);
  expect(await list(owner.client)).toEqual([]);
  const first = (await createKey(owner.client, 'first')).key;
  const second = (await createKey(owner.client, 'second')).key;
  const listed = await list(owner.client);
  const row = ({ apiKey: _, ...key }: typeof first) => ({ ...key, last_used_at: null, revoked: false });
  expect(listed).toEqual([row(second), row(first)]);
  const text = JSON.stringify(listed);
  for (const { apiKey, keyPrefix } of [first, second]) {
    expect(text).not.toContain(apiKey.slice(keyPrefix.length));
    expect(text).not.toContain(createHash('sha256').update(apiKey).digest('hex'));
  }
  expect(await list(withKey(first.apiKey)), 'by key as by cookie').toHaveLength(2);
});

test('revoking ends a key at once and permanently; it stays in the list; revoking it again changes nothing', async () => {
  const { key } = await createKey(world.client, 'to revoke');
  const client = withKey(key.apiKey);
  expect((await client.get('/api/v1/auth/me')).status).toBe(200);
  expectSuccess(await revoke(key.id), 200, doneAnswer);
  expectFailure(await client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  expect((await list()).find(({ id }) => id === key.id)).toMatchObject({ revoked: true });
  const before = await prisma().apiKey.findUniqueOrThrow({ where: { id: key.id } });
  server.clock.step(5);
  expectSuccess(await revoke(key.id), 200, doneAnswer);
  const after = await prisma().apiKey.findUniqueOrThrow({ where: { id: key.id } });
  expect(after.revokedAt).toEqual(before.revokedAt);
  const recorded = (await revocations()).filter(
    ({ metadata }) => JSON.stringify(metadata) === JSON.stringify({ apiKeyId: key.id }),
  );
  expect(recorded).toHaveLength(1);
  expect(recorded[0]).toMatchObject({ ip: world.client.ip, applicationId: null });
});

test('a key can revoke itself and another one without affecting the rest', async () => {
  const [one, two, three] = await Promise.all([createKey(), createKey(), createKey()]);
  const client = withKey(one.key.apiKey);
  expectSuccess(await revoke(two.key.id, client), 200, doneAnswer);
  expectSuccess(await revoke(one.key.id, client), 200, doneAnswer);
  expectFailure(await revoke(three.key.id, client), 401, 'UNAUTHENTICATED');
  expectFailure(await withKey(two.key.apiKey).get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  expect((await withKey(three.key.apiKey).get('/api/v1/auth/me')).status).toBe(200);
});

test('a key of another developer gets the same response as a missing one, and is not revoked', async () => {
  const { key } = await createKey();
  const stranger = await createWorld(server);
  const foreign = await revoke(key.id, stranger.client);
  expectFailure(foreign, 404, 'API_KEY_NOT_FOUND');
  for (const id of [missingId, 'nothing', key.keyPrefix]) {
    expect((await revoke(id, stranger.client)).body).toEqual(foreign.body);
  }
  expect((await withKey(key.apiKey).get('/api/v1/auth/me')).status).toBe(200);
  expect(await list(stranger.client)).toEqual([]);
});

test('the last use of a key is recorded, in one write for many requests', async () => {
  const { key } = await createKey(world.client, 'in use');
  const { apiKeyUse, database } = server.deps.services;
  await apiKeyUse.flush();
  const lastUse = async () => {
    const value = (await list()).find(({ id }) => id === key.id)?.last_used_at;
    return value === null || value === undefined ? null : Date.parse(value);
  };
  expect(await lastUse()).toBeNull();
  const statements = logStatements(database.pool);
  const client = withKey(key.apiKey);
  const before = server.clock.now();
  for (let asked = 0; asked < 10; asked++) expect((await client.get('/api/v1/auth/me')).status).toBe(200);
  await apiKeyUse.flush();
  const writes = statements.take().filter((text) => /UPDATE\s+"?(public"?\."?)?api_keys/i.test(text));
  expect(writes.length).toBeGreaterThan(0);
  // The recorder writes once a second, and ten slow requests may take a few seconds.
  expect(writes.length).toBeLessThan(10);
  const first = await lastUse();
  expect(first).toBeGreaterThanOrEqual(before - 1);

  server.clock.step(3_600);
  await client.get('/api/v1/auth/me');
  await apiKeyUse.flush();
  expect(await lastUse()).toBeGreaterThanOrEqual((first ?? 0) + 3_600_000);
});

test('a failed use is not recorded', async () => {
  const { key } = await createKey(world.client, 'revoked early');
  expectSuccess(await revoke(key.id), 200, doneAnswer);
  await withKey(key.apiKey).get('/api/v1/auth/me');
  await server.deps.services.apiKeyUse.flush();
  expect((await list()).find(({ id }) => id === key.id)).toMatchObject({ last_used_at: null });
});
