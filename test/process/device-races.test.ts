import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { noLimits } from '../api/support.ts';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { createCallClient } from '../setup/call-client.ts';
import { contradictions, setDeviceRules, storedDevices } from '../setup/devices.ts';
import { askIn } from '../setup/end-users.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';

// Devices that race for the places of a license, on three instances with one PostgreSQL server and one Redis. The embedded
// database has one connection and hides every race.
const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;

const parallel = 50;

/** Validates a license as a device, on one of the instances, in one of the two versions of the protocol. */
type Program = (members: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;

describe.skipIf(!possible)('devices that race on three instances', () => {
  let redis: OwnRedis;
  let servers: readonly TestServer[];
  let one: TestServer;
  let world: World;
  let application: SeededApplication;
  let programs: readonly Program[];

  beforeAll(async () => {
    redis = new OwnRedis(await freePort(), []);
    await redis.start();
    const env = { ...noLimits, REDIS_URL: redis.url };
    one = await startTestServer({ database: 'server', env });
    const [two, three] = [
      await startTestServer({ beside: one, env }),
      await startTestServer({ beside: one, env }),
    ];
    servers = [one, two, three];
    world = await createWorld(one);
    application = await world.createApplication();
    await application.settings({ requireLicenseToRegister: false });
    programs = await Promise.all(
      Array.from({ length: parallel }, async (_, index): Promise<Program> => {
        const server = servers[index % servers.length] ?? one;
        const program = index % 2 === 0 ? await newProgram(server) : await oldProgram(server);
        return async (members) => {
          for (;;) {
            const answer = await program(members);
            if (answer.code !== 'UNAVAILABLE') return answer;
            unavailable += 1;
          }
        };
      }),
    );
  });

  /** Answers of an overloaded machine, on which Redis or PostgreSQL did not answer in time: these are repeated. */
  let unavailable = 0;
  afterEach(() => {
    // A license that many requests change is no reason.
    const reported = servers
      .flatMap(({ logLines }) => logLines)
      .filter((line) => line.includes('dependency is unavailable'));
    expect(unavailable).toBeLessThanOrEqual(reported.length);
  });

  async function newProgram(server: TestServer): Promise<Program> {
    const client = createCallClient(server, application);
    const key = await client.key();
    return async (members) => {
      const sent = await client.seal(client.plaintext('validate', members), { key });
      return client.open(sent, await client.post(sent.body));
    };
  }

  async function oldProgram(server: TestServer): Promise<Program> {
    const session = await openSession(server, application);
    return async (members) => {
      const answer = await session.client.post(validatePath, session.seal(session.inner(members)));
      return answer.status === 503 ? { code: 'UNAVAILABLE' } : session.open(answer);
    };
  }

  afterAll(async () => {
    for (const server of [...servers].reverse()) await server.close();
    await redis.kill();
  });

  async function mint(
    limit: number,
    rules: Parameters<typeof setDeviceRules>[2] = {},
  ): Promise<SeededLicense> {
    const license = await application.mintOne({ durationSeconds: 3_600 });
    await setDeviceRules(servers, license, { device_limit: limit, ...rules });
    return license;
  }

  const newHwid = () => `device ${randomBytes(8).toString('hex')}`;
  const codes = (answers: readonly Record<string, unknown>[]) => {
    const counts: Record<string, number> = {};
    for (const { code } of answers) counts[String(code)] = (counts[String(code)] ?? 0) + 1;
    return counts;
  };
  const activeOf = async ({ id }: SeededLicense) =>
    (await storedDevices(one, id)).filter(({ releasedBy }) => releasedBy === null);

  /** All programs validate at once, each as another device. */
  const askAll = (licenseKey: string) =>
    Promise.all(programs.map((program) => program({ licenseKey, hwid: newHwid() })));

  async function raceForThree(): Promise<void> {
    const license = await mint(3);
    expect(codes(await askAll(license.licenseKey))).toEqual({ OK: 3, DEVICE_LIMIT: parallel - 3 });
    expect(await activeOf(license)).toHaveLength(3);
    expect(await contradictions(one, license.id)).toEqual([]);
  }

  test('get exactly the three places that there are', async () => {
    for (let round = 0; round < 5; round += 1) await raceForThree();
  });

  test('get exactly the three places that there are, 200 times', {
    tags: 'slow',
    timeout: 900_000,
  }, async () => {
    for (let round = 0; round < 200; round += 1) await raceForThree();
  });

  test('get the one place of a license for one device', async () => {
    const license = await application.mintOne();
    expect(codes(await askAll(license.licenseKey))).toEqual({ OK: 1, HWID_MISMATCH: parallel - 1 });
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  test('are one device if they are the same', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [license, hwid] = [await mint(3), newHwid()];
      const answers = await Promise.all(
        programs.map((program) => program({ licenseKey: license.licenseKey, hwid })),
      );
      expect(codes(answers)).toEqual({ OK: parallel });
      expect(await activeOf(license)).toHaveLength(1);
      expect(await contradictions(one, license.id)).toEqual([]);
    }
  });

  test('all get a place if there are a thousand', async () => {
    const license = await mint(1_000);
    const answers = [...(await Promise.all([askAll(license.licenseKey), askAll(license.licenseKey)]))].flat();
    expect(codes(answers)).toEqual({ OK: 2 * parallel });
    expect(await activeOf(license)).toHaveLength(2 * parallel);
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  test('by login and by validation get the three places together', async () => {
    const license = await mint(3);
    const password = 'a password of some user';
    const username = `grace.${randomBytes(4).toString('hex')}`;
    const created = await world.client.post(`/api/v1/apps/${application.id}/users`, {
      username,
      password,
      licenseKey: license.licenseKey,
    });
    expect(created.status).toBe(201);
    const sessions = await Promise.all(
      Array.from({ length: 9 }, (_, index) => openSession(servers[index % 3] ?? one, application)),
    );
    const register = (index: number) => ({
      username: `alan${index}.${username}`,
      password,
      licenseKey: license.licenseKey,
      hwid: newHwid(),
    });
    const answers = await Promise.all([
      ...sessions.map((session, index) =>
        index % 3 === 0
          ? askIn(session, 'register', register(index))
          : askIn(session, 'login', { username, password, hwid: newHwid() }),
      ),
      ...programs.slice(0, 20).map(async (program) => {
        await sleep(Math.random() * 100);
        return program({ licenseKey: license.licenseKey, hwid: newHwid() });
      }),
    ]);
    expect(codes(answers)).toEqual({ OK: 3, DEVICE_LIMIT: answers.length - 3 });
    expect(await activeOf(license)).toHaveLength(3);
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  /** While `change` runs, programs validate as devices of a few; answers their codes and the most active devices seen. */
  async function whileBinding(license: SeededLicense, change: (isOver: () => boolean) => Promise<void>) {
    let isOver = false;
    let most = 0;
    const answers: Record<string, unknown>[] = [];
    const hwids = Array.from({ length: 12 }, newHwid);
    const ask = async (program: Program) => {
      while (!isOver) {
        const hwid = hwids[Math.floor(Math.random() * hwids.length)];
        answers.push(await program({ licenseKey: license.licenseKey, hwid }));
      }
    };
    const count = async () => {
      while (!isOver) most = Math.max(most, (await activeOf(license)).length);
    };
    const running = Promise.all([...programs.map(ask), count()]);
    await change(() => isOver).finally(() => {
      isOver = true;
    });
    await running;
    return { codes: codes(answers), most };
  }

  const rounds = process.env.TEST_TIER === 'everyday' ? 8 : 40;

  test('never have more places than there are while devices are released, and no release is lost', async () => {
    const license = await mint(4);
    const released: string[] = [];
    const path = `/api/v1/licenses/${license.id}/devices`;
    const outcome = await whileBinding(license, async () => {
      while (released.length < rounds) {
        const device = (await activeOf(license))[0];
        if (device === undefined) continue;
        const answer = await world.client.delete(`${path}/${device.id}`);
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        released.push(device.id);
      }
    });
    expect(
      Object.keys(outcome.codes).filter((code) => !['OK', 'DEVICE_LIMIT', 'DEVICE_RELEASED'].includes(code)),
    ).toEqual([]);
    expect(outcome.most).toBeLessThanOrEqual(4);
    const again = (await activeOf(license)).filter(({ id }) => released.includes(id));
    expect(again).toEqual([]);
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  test('never have more places than there are while the license is reset', async () => {
    const license = await mint(4);
    const outcome = await whileBinding(license, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const answer = await world.client.post(`/api/v1/licenses/${license.id}/reset-hwid`);
        expect([200, 400], JSON.stringify(answer.body)).toContain(answer.status);
      }
    });
    expect(Object.keys(outcome.codes).filter((code) => !['OK', 'DEVICE_LIMIT'].includes(code))).toEqual([]);
    expect(outcome.most).toBeLessThanOrEqual(4);
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  test('get no place after the license and its devices were banned', async () => {
    const license = await mint(4);
    await whileBinding(license, async () => {
      await sleep(300);
      const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, { scope: 'hwid' });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const ids = async () => (await activeOf(license)).map(({ id }) => id);
      const after = await ids();
      const answers = await askAll(license.licenseKey);
      expect(codes(answers)).toEqual({ BANNED: parallel });
      expect(await ids()).toEqual(after);
    });
    const [bans] = await sql<{ count: number }>(
      one,
      'SELECT count(*)::int AS count FROM bans WHERE source_license_id = $1',
      [license.id],
    );
    expect(bans?.count).toBe((await activeOf(license)).length);
    expect(await contradictions(one, license.id)).toEqual([]);
  });

  test('take the places of exactly as many idle devices as are needed', async () => {
    const license = await mint(3, { release_idle_after_seconds: 3_600 });
    for (const program of programs.slice(0, 3)) {
      expect(await program({ licenseKey: license.licenseKey, hwid: newHwid() })).toMatchObject({
        code: 'OK',
      });
    }
    const idle = await activeOf(license);
    await sql(one, `UPDATE devices SET last_seen_at = last_seen_at - interval '2 hours' WHERE id = ANY($1)`, [
      idle.slice(0, 2).map(({ id }) => id),
    ]);
    await setDeviceRules(servers, license, { device_limit: 3 });
    expect(codes(await askAll(license.licenseKey))).toEqual({ OK: 2, DEVICE_LIMIT: parallel - 2 });
    const devices = await storedDevices(one, license.id);
    expect(devices.map(({ releasedBy }) => releasedBy)).toEqual(['idle', 'idle', null, null, null]);
    expect(await contradictions(one, license.id)).toEqual([]);
  });
});
