import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { serverUrl } from '../setup/database.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { freshDirectory, freshServerDatabase, secretIn, succeed } from './places.ts';

/** The documented move from the embedded database to a server and back, through the public interfaces only. */
describe.skipIf(serverUrl === null)('a service that moves between databases', () => {
  test('has the same data on a server, and again on an embedded database', async () => {
    const directory = await freshDirectory();
    const dataDir = join(directory, 'data');
    const first = await startTestServer({ database: 'memory', env: { DATA_DIR: dataDir } });
    const world = await createWorld(first);
    const { email, password } = world.developer;
    const credentials = { email, password };
    const login = await new ApiClient(first.baseUrl).post('/api/v1/auth/login', credentials);
    const cookie = cookieOf(login);
    if (cookie === undefined) throw new Error('not logged in');
    const app = await world.createApplication();
    const [bound, unused, banned] = await app.mint({ amount: 3, durationSeconds: 3_600 });
    if (bound === undefined || unused === undefined || banned === undefined) throw new Error('not minted');
    const ask = async (server: { baseUrl: string; clock: typeof first.clock }, key: string, hwid: string) =>
      (await (await openSession(server, app)).ask(validatePath, { licenseKey: key, hwid })).code;
    expect(await ask(first, bound.licenseKey, 'laptop')).toBe('OK');
    expect((await world.client.post(`/api/v1/licenses/${banned.id}/ban`, {})).status).toBe(200);
    const look = async (as: ApiClient) => ({
      log: (await as.get(`/api/v1/apps/${app.id}/logs?limit=200`)).body,
      licenses: (await as.get(`/api/v1/apps/${app.id}/licenses`)).body,
      metrics: (await as.get('/api/v1/metrics/overview')).body,
      me: (await as.get('/api/v1/auth/me')).body,
    });
    await expect
      .poll(async () => JSON.stringify((await look(world.client)).log), { timeout: 20_000 })
      .toContain('license_validated');
    const before = await look(world.client);
    await first.close();

    const toServer = join(directory, 'to-server.backup');
    const url = await freshServerDatabase();
    const secret = await secretIn(dataDir);
    const onServer = { DATABASE_URL: url, SERVICE_SECRET: secret };
    await succeed(['backup', toServer], { DATA_DIR: dataDir });
    await succeed(['restore', toServer], onServer);

    const second = await startTestServer({ database: 'memory', env: onServer });
    // The cookie from before the move is still valid.
    expect(await look(new ApiClient(second.baseUrl, { cookie }))).toEqual(before);
    expect(await ask(second, bound.licenseKey, 'laptop')).toBe('OK');
    expect(await ask(second, bound.licenseKey, 'copy')).toBe('HWID_MISMATCH');
    expect(await ask(second, banned.licenseKey, 'laptop')).toBe('BANNED');
    const again = await new ApiClient(second.baseUrl).post('/api/v1/auth/login', credentials);
    expect(again.status).toBe(200);
    await second.close();

    const back = join(directory, 'back.backup');
    const embedded = { DATA_DIR: join(directory, 'again'), SERVICE_SECRET: secret };
    await succeed(['backup', back], onServer);
    await succeed(['restore', back], embedded);
    const third = await startTestServer({ database: 'memory', env: embedded });
    expect(await ask(third, bound.licenseKey, 'laptop')).toBe('OK');
    expect(await ask(third, unused.licenseKey, 'desktop')).toBe('OK');
    expect(await ask(third, banned.licenseKey, 'laptop')).toBe('BANNED');
    await third.close();
  });
});
