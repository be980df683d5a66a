import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createClient } from '../../src/sdk/index.ts';
import { createDatabase } from '../bench/database.ts';
import { startService } from '../bench/service.ts';
import type { Undo } from '../bench/undo.ts';
import { createVendor } from '../bench/vendor.ts';
import { createActions } from './actions.ts';
import { Counts } from './counts.ts';
import { type Growth, growthOf } from './flat.ts';
import { createLook, type Look } from './look.ts';
import { Model } from './model.ts';
import type { SoakOptions } from './options.ts';
import { drive } from './traffic.ts';
import { createSoakVendor } from './vendor.ts';

/** What came of a soak. */
export interface SoakReport {
  readonly database: 'embedded' | 'server';
  readonly minutes: number;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly wrongVerdicts: number;
  /** Failures and answers of 500 and above. */
  readonly unexpected: number;
  readonly followed: number;
  readonly looks: readonly Look[];
  readonly growth: Growth;
  /** In bytes. */
  readonly peakRss: number;
  /** What was wrong, in words; empty where all is well. */
  readonly faults: readonly string[];
}

const created = z.object({
  application: z.object({ id: z.string() }),
  sdkHint: z.object({
    baseUrl: z.string(),
    appId: z.string(),
    version: z.string(),
    publicKeyB64: z.string(),
  }),
});

/** How often it looks: each minute, and ten times in a short soak. */
const lookEvery = (minutes: number): number => Math.min(60_000, minutes * 6_000);
/** A transaction that idles for longer was forgotten: the longest of the service takes parts of a second. */
const longestIdleSeconds = 5;

/** Keeps a service busy, and looks at it. @param say told of each look */
export async function soak(
  options: SoakOptions,
  undo: Undo,
  say: (line: string) => void,
): Promise<SoakReport> {
  const database = await createDatabase(options.databaseUrl, undo);
  const env = { ...database.env, ...(options.redisUrl !== null && { REDIS_URL: options.redisUrl }) };
  const service = await startService(env, undo, { probed: true });
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const account = await createVendor(baseUrl);
  const { application, sdkHint } = await account.post('/api/v1/apps/create', { name: 'Photo Lab' }, created);
  const vendor = createSoakVendor(baseUrl, account.apiKey);
  const [counts, model] = [new Counts(), new Model()];
  const program = createClient({ ...sdkHint, baseUrl, store: null, timeoutMs: 60_000 });
  const ending = new AbortController();
  let followed = 0;
  const following = vendor
    .follow(application.id, () => (followed += 1), ending.signal)
    .catch(() => undefined);

  const startedAt = performance.now();
  const look = createLook(service, database, startedAt);
  const looks: Look[] = [];
  const actions = createActions({ applicationId: application.id, program, vendor, counts, model });
  const traffic = drive(actions, options.rate, ending.signal).catch((error: unknown) => {
    counts.unexpected += 1;
    counts.wrong.push(String(error));
  });
  while (performance.now() - startedAt < options.minutes * 60_000) {
    await sleep(lookEvery(options.minutes));
    const seen = await look();
    looks.push(seen);
    say(`${describe(seen)}; ${counts.requests} requests; ${describeRefusals(counts)}`);
  }
  ending.abort();
  await traffic;
  await following;
  // What is still in a transaction when nobody asks for anything has been forgotten there.
  await sleep(1_000);
  const last = await look();

  const minutes = (performance.now() - startedAt) / 60_000;
  const growth = growthOf(looks);
  const idle = Math.max(0, ...[...looks, last].map(({ idleSeconds }) => idleSeconds ?? 0));
  const faults = [
    ...counts.wrong,
    ...(growth.isFlat ? [] : [`The heap grew by ${megabytes(growth.grown)} MB after the warm-up`]),
    ...(idle > longestIdleSeconds ? [`A transaction idled for ${idle.toFixed(1)} s`] : []),
    ...((last.idleSeconds ?? 0) > 0 ? ['A transaction idles though nobody asks for anything'] : []),
    ...(followed === 0 ? ['The subscription was told nothing'] : []),
    ...(counts.requests === 0 ? ['Nothing was asked'] : []),
  ];
  return {
    database: database.kind,
    minutes,
    requests: counts.requests,
    requestsPerSecond: counts.requests / (minutes * 60),
    refusals: Object.fromEntries(counts.refusals),
    wrongVerdicts: counts.wrongVerdicts,
    unexpected: counts.unexpected,
    followed,
    looks,
    growth,
    peakRss: Math.max(...[...looks, last].map(({ rss }) => rss)),
    faults,
  };
}

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

const describe = ({ minutes, heapUsed, rss, handles, connections, idleSeconds, logEntries }: Look): string =>
  [
    `${minutes.toFixed(1)} min: heap ${megabytes(heapUsed)} MB, RSS ${megabytes(rss)} MB, ${handles} handles`,
    ...(connections === null
      ? []
      : [`${connections} connections, ${idleSeconds?.toFixed(1)} s idle in a transaction`]),
    ...(logEntries === null ? [] : [`${logEntries} log entries`]),
  ].join(', ');

const describeRefusals = ({ refusals }: Counts): string =>
  refusals.map(([code, count]) => `${code} ${count}`).join(', ') || 'no refusals';
