import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { noLimits } from '../api/support.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;

test.skipIf(!possible)(
  'a ban that Redis refuses to publish is acknowledged after the other instances have read it from the database',
  async () => {
    const redis = await OwnRedis.start();
    const env = { ...noLimits, REDIS_URL: redis.url };
    const here = await startTestServer({ database: 'server', env });
    onTestFinished(() => here.close());
    const there = await startTestServer({ beside: here, env });
    onTestFinished(() => there.close());
    const world = await createWorld(here);
    const application = await world.createApplication();
    const licenses = await application.mint({ amount: 12 });
    const session = await openSession(there, application);
    const ask = (licenseKey: string) => session.ask(validatePath, { licenseKey });
    for (const { licenseKey } of licenses)
      for (const _time of ['first', 'second']) expect(await ask(licenseKey)).toMatchObject({ code: 'OK' });

    const admin = new Redis(redis.url);
    onTestFinished(() => admin.disconnect());
    await admin.acl('SETUSER', 'default', '-publish');
    // Concurrently, so that each request comes at a different time between two polls of the other instance.
    const verdicts = await Promise.all(
      licenses.map(async ({ id, licenseKey }) => {
        const answer = await world.client.post(`/api/v1/licenses/${id}/ban`);
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        return (await ask(licenseKey)).code;
      }),
    );
    expect(verdicts).toEqual(licenses.map(() => 'BANNED'));
    expect(here.logLines.join('')).toContain('Other instances learn of a change from the database');
  },
);
