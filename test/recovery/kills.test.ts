/** @module-tag slow */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';
import { type Installation, install, installationKinds, killWhileStarting } from './installation.ts';
import { Journal } from './journal.ts';
import { expectEventsOfChanges } from './stored-events.ts';
import { expectStoredWhole } from './stored-state.ts';
import { createVerifier } from './verify.ts';
import { type Stage, Work } from './work.ts';

// Run more kills with TEST_KILLS=100. Each takes two or three seconds.
const kills = Number(process.env.TEST_KILLS ?? 3);

const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });
const minted = z.object({ keys: z.tuple([z.object({ licenseKey: z.string() })]) });

test.each(installationKinds)(
  `${kills} kills at random moments under load lose no acknowledged write: %s`,
  async (kind) => {
    const installation = await install(kind);
    onTestFinished(installation.remove);
    let service: ServiceProcess | null = null;
    onTestFinished(async () => void (await service?.stop('SIGKILL')));

    service = await startServiceProcess(installation.env);
    const world = await createWorld({ baseUrl: service.url });
    const application = await world.createApplication();
    const answer = await world.client.post('/api/v1/account/api-keys', { name: 'of the vendor' });
    const vendorKey = shownApiKey.parse(answer.body).key.apiKey;
    const stage: Stage = { journal: new Journal(), application, vendorKey };
    await untilReady(service.url, stage);
    const verify = createVerifier(stage);

    const recoveries: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const victim = installation.victims[kill % installation.victims.length] ?? 'service';
      const work = new Work(service.url, stage);
      const acknowledged = stage.journal.acknowledged;
      work.begin();
      await vi.waitFor(() => expect(stage.journal.acknowledged).toBeGreaterThan(acknowledged + 5), patient);
      await sleep(randomInt(600));
      if (victim !== 'database') await service.stop('SIGKILL');
      if (victim !== 'service') await installation.killDatabase();
      await work.end();

      // Every other time, the next start is killed too, while it opens or repairs the database.
      if (victim === 'service' && kill % 2 === 1) await killWhileStarting(installation.env, randomInt(1_200));
      const from = performance.now();
      service = await recover(installation, victim, service);
      await untilReady(service.url, stage);
      recoveries.push(performance.now() - from);
      await verify(service.url);
      // Readers number events while others are recorded.
      const events = new ApiClient(service.url, { bearer: vendorKey }).get('/api/v1/events?limit=1');
      expect((await events).status).toBe(200);
      expect(stage.journal.violations.slice(0, 10), `after kill ${kill + 1}`).toEqual([]);
    }
    expect(await service.stop()).toBe(0);
    await installation.read(async (query) => {
      await expectStoredWhole(query, stage);
      await expectEventsOfChanges(query);
    });

    const slowest = Math.max(...recoveries);
    tally(
      { kills, acknowledged: stage.journal.acknowledged, lost: stage.journal.violations.length },
      { [`recovery after a kill, ms (${kind})`]: Math.round(slowest) },
    );
    process.stderr.write(
      `${kind}: ${kills} kills, ${stage.journal.acknowledged} acknowledged writes, ready again in ${Math.round(slowest)} ms at most.\n`,
    );
  },
  240_000 + kills * 30_000,
);

const patient = { timeout: 40_000, interval: 10 };

async function recover(
  installation: Installation,
  victim: (typeof installation.victims)[number],
  service: ServiceProcess,
): Promise<ServiceProcess> {
  if (victim !== 'service') await installation.startDatabase();
  return victim === 'database' ? service : startServiceProcess(installation.env);
}

/** Waits until everything works: it mints a key, opens a session, and validates that key for the first time. */
async function untilReady(baseUrl: string, { application, vendorKey }: Stage): Promise<void> {
  const vendor = new ApiClient(baseUrl, { bearer: vendorKey });
  await vi.waitFor(async () => {
    const input = { applicationId: application.id, amount: 1, durationSeconds: 0 };
    const answer = await vendor.post('/api/v1/licenses/create', input);
    const [{ licenseKey }] = minted.parse(answer.body).keys;
    const session = await openSession({ baseUrl, clock: systemClock }, application);
    expect(await session.ask(validatePath, { licenseKey, hwid: 'ready' })).toMatchObject({ code: 'OK' });
  }, patient);
}
