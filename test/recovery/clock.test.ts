/** @module-tag slow */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import { logsAnswer, noLimits } from '../api/support.ts';
import { redisInstances, redisUrl } from '../ephemeral/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { startServiceProcess } from '../setup/process.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { tally } from '../setup/tally.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

const hour = 3_600;
const patient = { timeout: 20_000, interval: 20 };

type Envelope = ReturnType<SealedSession['seal']>;
const replay = async (session: SealedSession, envelope: Envelope) =>
  (await session.client.post(validatePath, envelope)).status;

test('a clock set ahead or back by hours expires licenses by its current time only, and accepts no envelope twice', async () => {
  const server = await startTestServer({ database: 'memory', env: noLimits });
  onTestFinished(server.close);
  const world = await createWorld(server);
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne({ durationSeconds: hour });
  const other = await application.mintOne();
  const recorded = await openSession(server, application);
  const envelope = recorded.seal(recorded.inner({ licenseKey, hwid: 'device' }));
  const { code, expiresAt } = recorded.open(await recorded.client.post(validatePath, envelope));
  expect(code).toBe('OK');

  /** The results that a program and its vendor see now. */
  const expectNow = async (expected: string) => {
    const session = await openSession(server, application);
    const members = { licenseKey, hwid: 'device' };
    const answer = await session.ask(validatePath, members);
    expect(answer.code).toBe(expected);
    if (expected === 'OK') expect(answer.expiresAt).toBe(expiresAt);
    // Other requests run too: expired nonces are dropped.
    for (let count = 0; count < 5; count += 1) {
      const own = session.seal(session.inner({ licenseKey: other.licenseKey }));
      expect(session.open(await session.client.post(validatePath, own)).code).toBe('OK');
      expect(await replay(session, own)).not.toBe(200);
    }
    expect((await world.client.get('/api/v1/auth/me')).status).toBe(200);
    expect(await replay(recorded, envelope)).not.toBe(200);
  };
  await expectNow('OK');
  for (const [step, expected] of [
    [-3 * hour, 'OK'],
    [3 * hour, 'OK'],
    [3 * hour, 'EXPIRED'],
    [-3 * hour, 'OK'],
    [-48 * hour, 'OK'],
    [48 * hour, 'OK'],
  ] as const) {
    server.clock.step(step);
    await expectNow(expected);
  }
  tally({ faults: 6 });
}, 300_000);

test.skipIf(redisUrl === undefined)(
  'a clock set back while Redis lost the nonces ends the sessions on every instance',
  async () => {
    const { keyPrefix, open } = redisInstances(redisUrl ?? '');
    let offset = 0;
    const clocks = { wall: () => Date.now() + offset, steady: () => performance.now() };
    const store = await createRedisStore({ address: parseRedisUrl(redisUrl ?? ''), keyPrefix, clocks });
    onTestFinished(store.close);
    const other = await open();
    const { epoch } = store;
    expect(other.epoch).toBe(epoch);
    offset = 3 * hour * 1_000;
    expect(store.epoch, 'ahead, nothing that ended begins anew').toBe(epoch);
    offset -= 10_000;
    await expect(store.addOnce('nonce', 60)).rejects.toMatchObject({ name: 'StoreUnavailableError' });
    await vi.waitFor(() => expect(store.isAvailable()).toBe(true), patient);
    expect(store.epoch).not.toBe(epoch);
    await vi.waitFor(() => expect(other.epoch).toBe(store.epoch), patient);
    expect(await store.addOnce('nonce', 60)).toBe(true);
    tally({ faults: 1 });
  },
  300_000,
);

const initAnswer = z.object({ timestamp: z.number() });

test('a process whose clock is set keeps the order of its log, ends its rate limits in time, and shuts down gracefully', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-clock-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'offset');
  let offset = 0;
  const clock = { now: () => Date.now() + offset };
  await writeFile(file, '0');
  const service = await startServiceProcess({
    DATA_DIR: join(directory, 'data'),
    TRUST_PROXY: '1',
    RATE_LIMITS: 'session=5,validate=100000',
    NODE_OPTIONS: `--import ${new URL('fixtures/shifted-clock.mjs', import.meta.url).href}`,
    TEST_CLOCK_FILE: file,
  });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const server = { baseUrl: service.url, clock };
  const { client, createApplication } = await createWorld(server);
  const application = await createApplication();
  const { licenseKey } = await application.mintOne({ durationSeconds: hour });

  const set = async (seconds: number) => {
    offset = seconds * 1_000;
    // Renamed into place, so that no partial file is read.
    await writeFile(`${file}.new`, String(offset));
    await rename(`${file}.new`, file);
    await vi.waitFor(async () => {
      const { timestamp } = initAnswer.parse((await init(service.url, application)).body);
      expect(Math.abs(timestamp - clock.now() / 1_000)).toBeLessThan(60);
    }, patient);
  };
  let asked = 0;
  const validate = async (expected: string) => {
    const session = await openSession(server, application);
    for (let count = 0; count < 4; count += 1) {
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: expected });
      asked += 1;
    }
  };
  await validate('OK');
  const hasty = new ApiClient(service.url);
  const limit = async () => {
    const answers = [];
    for (let count = 0; count < 6; count += 1) answers.push(await init(service.url, application, hasty));
    return answers.at(-1);
  };
  expect((await limit())?.status).toBe(429);
  for (const [seconds, expected] of [
    [-3 * hour, 'OK'],
    [3 * hour, 'EXPIRED'],
    [-365 * 24 * hour, 'OK'],
    [120 * 24 * hour, 'EXPIRED'],
    [365 * 24 * hour, 'EXPIRED'],
    [600, 'OK'],
    [0, 'OK'],
  ] as const) {
    await set(seconds);
    const refused = await limit();
    expect(Number(refused?.headers.get('retry-after') ?? 0)).toBeLessThanOrEqual(60);
    await validate(expected);
  }

  const ids: string[] = [];
  let cursor: string | null = null;
  await vi.waitFor(async () => {
    ids.length = 0;
    cursor = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = await client.get(`/api/v1/apps/${application.id}/logs?limit=3${query}`);
      const { logs, nextCursor } = logsAnswer.parse(page.body);
      ids.push(...logs.filter(({ event }) => event === 'license_validated').map(({ id }) => id));
      cursor = nextCursor;
    } while (cursor !== null);
    expect(ids).toHaveLength(asked);
  }, patient);
  expect(new Set(ids).size).toBe(asked);
  expect(ids.toSorted().toReversed()).toEqual(ids);
  expect(await service.stop()).toBe(0);
  tally({ faults: 7 });
}, 300_000);

/** Requests a session and ignores the result. */
const init = (baseUrl: string, application: SeededApplication, client = new ApiClient(baseUrl)) =>
  client.post('/api/v1/session/init', {
    appId: application.id,
    clientNonceB64: Buffer.alloc(32, 7).toString('base64'),
    clientVersion: application.version,
  });
