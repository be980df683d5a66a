/** @module-tag slow */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { noLimits } from '../api/support.ts';
import { hasRedisServer, type OwnRedis } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { ask, cutReplication, detectionMilliseconds, OwnCluster, OwnSentinels } from '../setup/own-redis.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { createWorld } from '../setup/world.ts';
import { ReplayingLoad } from './replaying-load.ts';

// Two service processes on one Redis, whose master is lost again and again after it was cut off from its replicas: they
// lack nonces that it has accepted.

/** Far above what is measured: about two seconds beyond the detection, and one second. */
const longest = { outage: detectionMilliseconds + 30_000, refusal: 10_000 };

interface Failing {
  readonly url: string;
  /** The master that stores this installation's keys. */
  master(): Promise<OwnRedis>;
  /** Makes a server that was lost a replica, and waits until all is as before. */
  restart(lost: OwnRedis): Promise<void>;
}

async function startServices(redisUrl: string): Promise<ServiceProcess[]> {
  const { url, drop } = await createServerDatabase();
  onTestFinished(drop);
  const env = {
    ...noLimits,
    DATABASE_URL: url,
    REDIS_URL: redisUrl,
    SERVICE_SECRET: randomBytes(32).toString('base64'),
    TRUST_PROXY: '1',
  };
  const services: ServiceProcess[] = [];
  for (let count = 0; count < 2; count += 1) {
    const service = await startServiceProcess(env);
    services.push(service);
    onTestFinished(async () => void (await service.stop()));
  }
  return services;
}

async function failOver(redis: Failing, times: number, lose: (master: OwnRedis) => Promise<void> | void) {
  const services = await startServices(redis.url);
  const [{ url: baseUrl } = { url: '' }] = services;
  const application = await (await createWorld({ baseUrl })).createApplication();
  const load = await ReplayingLoad.start(services, application);
  const outages: number[] = [];
  let unreplicated = 0;
  try {
    for (let count = 0; count < times; count += 1) {
      await load.untilAccepted(performance.now());
      const master = await redis.master();
      await cutReplication(master);
      const cut = performance.now();
      await load.untilAccepted(cut);
      await sleep(200);
      const lost = performance.now();
      await lose(master);
      outages.push(await load.untilAccepted(lost));
      unreplicated += await load.replaySince(cut);
      await redis.restart(master);
    }
  } finally {
    await load.stop();
  }
  const { accepted, refusals, replaysAccepted, replaysSent, slowestRefusal } = load;
  const longestOutage = Math.round(Math.max(...outages));
  process.stderr.write(
    `${times} failovers: ${accepted} requests accepted, ${unreplicated} of them sent again after a failover; ${replaysSent} ` +
      `replays sent, ${replaysAccepted} accepted; outages ${outages.map(Math.round).join(', ')} ms with a detection of ` +
      `${detectionMilliseconds} ms; ${refusals} refusals, the slowest after ${Math.round(slowestRefusal)} ms.\n`,
  );
  expect(replaysAccepted).toBe(0);
  expect(unreplicated).toBeGreaterThan(times);
  expect(longestOutage).toBeLessThan(longest.outage);
  expect(slowestRefusal).toBeLessThan(longest.refusal);
}

describe.skipIf(!hasRedisServer || serverUrl === null)('no replay is accepted', () => {
  async function withSentinels(): Promise<Failing> {
    const sentinels = await OwnSentinels.start();
    onTestFinished(() => sentinels.close());
    return sentinels;
  }

  test('when the master is killed ten times, and sentinels replace it', async () => {
    await failOver(await withSentinels(), 10, (master) => master.kill());
  }, 600_000);

  test('when the master hangs three times, and sentinels replace it', async () => {
    const sentinels = await withSentinels();
    const restart = async (lost: OwnRedis) => {
      await lost.kill();
      await sentinels.restart(lost);
    };
    await failOver({ url: sentinels.url, master: () => sentinels.master(), restart }, 3, (master) =>
      master.freeze(),
    );
  }, 600_000);

  test('when the master of a cluster is killed five times, and its replica replaces it', async () => {
    const cluster = await OwnCluster.start();
    onTestFinished(() => cluster.close());
    const master = async (): Promise<OwnRedis> => {
      for (const server of await cluster.masters()) {
        const keys = await ask(server.port, (client) => client.keys('{latchkey:*}:epoch'));
        if (keys.length > 0) return server;
      }
      throw new Error('No master has the keys of the installation');
    };
    const restart = async (lost: OwnRedis) => {
      await lost.start();
      await cluster.untilComplete();
    };
    await failOver({ url: cluster.url, master, restart }, 5, (lost) => lost.kill());
  }, 600_000);
});
