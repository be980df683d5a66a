import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { deviceClient, setSelfService, storedDevices } from '../setup/self-service.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { storedLog } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { noLimits } from './support.ts';

// The embedded database has one connection and hides every race, so these need a server, with several instances on it.
const isPossible = process.env.TEST_DATABASE_URL !== undefined && process.env.TEST_DATABASE_KIND === 'server';

const parallel = 50;
const patient = { timeout: 10_000, interval: 50 };

describe.skipIf(!isPossible)('with three instances,', () => {
  let all: readonly TestServer[];
  let one: TestServer;
  beforeAll(async () => {
    one = await startTestServer({ database: 'server', env: noLimits });
    const beside = () => startTestServer({ beside: one, env: noLimits });
    all = [one, await beside(), await beside()];
  });
  afterAll(async () => {
    for (const server of all.toReversed()) await server.close();
  });

  let application: SeededApplication;
  let license: SeededLicense;
  beforeEach(async () => {
    application = await (await createWorld(one)).createApplication();
    license = await application.mintOne();
  });

  /** Clients of all instances, half of them in each version of the protocol. */
  const clients = () =>
    Promise.all(
      Array.from({ length: parallel }, (_, turn) =>
        deviceClient(all[turn % all.length] ?? one, application, turn % 2 === 0 ? 1 : 2),
      ),
    );
  const active = async () =>
    (await storedDevices(one, license.id)).filter(({ releasedBy }) => releasedBy === null);

  test('fifty moves at once use a budget of three exactly, and never exceed the limit', async () => {
    for (let round = 0; round < 4; round += 1) {
      license = await application.mintOne();
      await setSelfService(all, license.id, { deviceLimit: 10, moves: { count: 3, periodSeconds: 600 } });
      const asks = await clients();
      const answers = await Promise.all(
        asks.map((ask, turn) =>
          ask('devices.move', { licenseKey: license.licenseKey, hwid: `device ${turn}` }),
        ),
      );
      const codes = answers.map(({ code }) => code);
      expect(codes.filter((code) => code === 'OK')).toHaveLength(3);
      expect(codes.filter((code) => code === 'MOVES_EXHAUSTED')).toHaveLength(parallel - 3);
      expect(await active()).toHaveLength(3);
      expect(
        answers
          .map(({ movesLeft }) => movesLeft)
          .filter((left) => left !== undefined)
          .sort(),
      ).toEqual([0, 1, 2]);
    }
    expect(await storedLog(one, application.id, 'device_moved')).toHaveLength(12);
  });

  test('fifty moves at once into three free places fill them, and no more', async () => {
    await setSelfService(all, license.id, { deviceLimit: 3 });
    const asks = await clients();
    const codes = await Promise.all(
      asks.map(async (ask, turn) => {
        // Half of them are first uses, which bind without a transaction of their own.
        const call = turn % 4 < 2 ? 'devices.move' : 'validate';
        return (await ask(call, { licenseKey: license.licenseKey, hwid: `device ${turn}` })).code;
      }),
    );
    expect(codes.filter((code) => code === 'OK')).toHaveLength(3);
    expect(codes.filter((code) => code === 'DEVICE_LIMIT')).toHaveLength(parallel - 3);
    expect(await active()).toHaveLength(3);
  });

  test('of fifty moves of one device, one gets its place', async () => {
    await setSelfService(all, license.id, {});
    const asks = await clients();
    await asks[0]?.('validate', { licenseKey: license.licenseKey, hwid: 'old' });
    const [old] = await active();
    const codes = await Promise.all(
      asks.map(async (ask, turn) => {
        const members = { licenseKey: license.licenseKey, hwid: `device ${turn}`, releaseDeviceId: old?.id };
        return (await ask('devices.move', members)).code;
      }),
    );
    expect(codes.filter((code) => code === 'OK')).toHaveLength(1);
    expect(codes.filter((code) => code === 'DEVICE_UNKNOWN')).toHaveLength(parallel - 1);
    const [bound, ...more] = await active();
    expect(more).toEqual([]);
    expect(bound?.hwid).toBe(`device ${codes.indexOf('OK')}`);
  });

  test('every instance refuses a device after its move, and another move until retryAt', async () => {
    await setSelfService(all, license.id, { cooldownSeconds: 60 });
    const asks = await Promise.all(all.map((server) => deviceClient(server, application, 2)));
    for (const ask of asks) {
      expect((await ask('validate', { licenseKey: license.licenseKey, hwid: 'old' })).code).toBe('OK');
    }
    const [old] = await active();
    const before = Date.now();
    const moved = await asks[0]?.('devices.move', {
      licenseKey: license.licenseKey,
      hwid: 'new',
      releaseDeviceId: old?.id,
    });
    expect(moved).toMatchObject({ code: 'OK' });
    for (const ask of asks) {
      // Without Redis, the other instances learn of it by looking at the database.
      const verdict = await vi.waitFor(async () => {
        const answer = await ask('validate', { licenseKey: license.licenseKey, hwid: 'old' });
        expect(answer).toMatchObject({ code: 'DEVICE_RELEASED' });
        return answer;
      }, patient);
      expect(Date.parse(String(verdict.releasedAt))).toBeGreaterThanOrEqual(before - 1_000);
      expect(await ask('validate', { licenseKey: license.licenseKey, hwid: 'new' })).toMatchObject({
        code: 'OK',
      });
      const again = { licenseKey: license.licenseKey, hwid: 'third', releaseDeviceId: moved?.deviceId };
      expect(await ask('devices.move', again)).toMatchObject({
        code: 'MOVE_COOLDOWN',
        retryAt: moved?.nextMoveAt,
      });
    }
  });
});
