import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { logLinesOf } from '../setup/log-lines.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { createWorld } from '../setup/world.ts';
import { startLoad } from './customers.ts';
import { holdConnection } from './hold-connection.ts';

/** `WORKERS=2 npm start` with real servers. */

const redisUrl = process.env.TEST_REDIS_URL;
const patient = { timeout: 60_000, interval: 20 };

const logLine = z.object({
  msg: z.string(),
  worker: z.number().optional(),
  pid: z.number().optional(),
  reason: z.string().optional(),
  restartMilliseconds: z.number().optional(),
});

const linesOf = (service: ServiceProcess, msg: string) => logLinesOf(service, logLine, msg);

/** The pid of the current process of this worker. */
function pidOf(service: ServiceProcess, worker: number): number {
  const pid = linesOf(service, 'A worker is ready').findLast((line) => line.worker === worker)?.pid;
  if (pid === undefined) throw new Error(`worker ${worker} has never been ready`);
  return pid;
}

/** Waits until a worker's process has been replaced. */
async function untilReplaced(service: ServiceProcess, worker: number, formerPid: number): Promise<void> {
  await vi.waitFor(() => expect(pidOf(service, worker)).not.toBe(formerPid), patient);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Sends one request on its own connection and returns the status of the response. */
async function ask(
  service: ServiceProcess,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  const sent = get(`${service.url}/health`, { agent: false, headers });
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

/** Each worker logs its first unreadable client address, which shows which worker answered this request. */
const askUnreadable = (service: ServiceProcess, address: string) =>
  ask(service, { 'X-Forwarded-For': address });

interface Installation {
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  drop(): Promise<void>;
}

async function install(): Promise<Installation> {
  const { url, drop } = await createServerDatabase();
  const env = {
    WORKERS: '2',
    DATABASE_URL: url,
    REDIS_URL: redisUrl ?? '',
    SERVICE_SECRET: randomBytes(32).toString('base64'),
    TRUST_PROXY: '1',
    RATE_LIMITS: 'validate=1000000,session=1000',
  };
  return { env, databaseUrl: url, drop };
}

async function startOwn(): Promise<ServiceProcess & { readonly databaseUrl: string }> {
  const { env, databaseUrl, drop } = await install();
  onTestFinished(drop);
  const service = await start(env);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return { ...service, databaseUrl };
}

/** Starts the service and waits until all workers answer. */
async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startServiceProcess(env);
  await vi.waitFor(() => expect(linesOf(service, 'Listening on')).toHaveLength(1), patient);
  return service;
}

async function sql<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

test('two workers without REDIS_URL are refused', async () => {
  const said = await startServiceProcess({
    WORKERS: '2',
    DATABASE_URL: 'postgresql://127.0.0.1:1/none',
    SERVICE_SECRET: randomBytes(32).toString('base64'),
  }).then(String, String);
  expect(said).toContain('ended with 1');
  expect(said).toContain('WORKERS above 1 requires REDIS_URL');
});

describe.skipIf(serverUrl === null || redisUrl === undefined)('two workers', () => {
  let installation: Installation;
  let service: ServiceProcess;
  beforeAll(async () => {
    installation = await install();
    service = await start(installation.env);
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await installation.drop();
  }, 60_000);

  test('answer in turn, and each logs its number', async () => {
    const complainers = () =>
      linesOf(service, 'The client address in X-Forwarded-For cannot be parsed').map(({ worker }) => worker);
    for (const address of ['one', 'two', 'three', 'four'])
      expect(await askUnreadable(service, address)).toBe(200);
    await vi.waitFor(() => expect(complainers().toSorted()).toEqual([1, 2]), patient);
  });

  test('if one is stuck and then dies, the other answers its connections', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const stuck = pidOf(service, 1);
    process.kill(stuck, 'SIGSTOP');
    let answered = 0;
    const requests = Array.from({ length: 10 }, () => ask(service).then(() => (answered += 1)));
    // The stuck worker got one or two connections before the other had taken its own.
    await vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual(5), patient);
    process.kill(stuck, 'SIGKILL');
    await Promise.all(requests);
    await untilReplaced(service, 1, stuck);
  });

  test('if one dies under load, no request of the other fails, and all are answered afterwards', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const complaints = () => linesOf(service, 'The client address').filter(({ worker }) => worker === 2);
    const before = complaints().length;
    const load = await startLoad(service.url, { customers: 8, goOn: true });
    expect(load.failures()).toEqual([]);
    const killed = pidOf(service, 2);
    process.kill(killed, 'SIGKILL');
    await untilReplaced(service, 2, killed);
    const failed = load.failures().length;
    const answered = load.answered();
    await vi.waitFor(() => expect(load.answered()).toBeGreaterThan(answered + 100), patient);
    await load.stop();

    // Half of the connections belonged to it: each broke once, and the others did not break.
    expect(failed).toBeLessThanOrEqual(4);
    expect(load.customers.filter(({ failures }) => failures.length > 1)).toEqual([]);
    expect(load.failures()).toHaveLength(failed);
    // Each process logs it once.
    await vi.waitFor(async () => {
      await askUnreadable(service, 'unreadable');
      expect(complaints()).toHaveLength(before + 1);
    }, patient);
  });

  test('if one is told to stop, no request fails, and it is replaced', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const load = await startLoad(service.url, { customers: 4, goOn: true });
    const told = pidOf(service, 1);
    process.kill(told, 'SIGTERM');
    await untilReplaced(service, 1, told);
    await load.stop();
    expect(load.failures()).toEqual([]);
  });

  test('if one cannot restart for a while, the other answers, and it returns when it can', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const name = new URL(installation.databaseUrl).pathname.slice(1);
    const allow = (allowed: boolean) =>
      sql(serverUrl ?? '', `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${allowed}`);
    const former = pidOf(service, 1);
    await allow(false);
    try {
      process.kill(former, 'SIGKILL');
      const ends = () => linesOf(service, 'A worker ended').filter(({ reason }) => reason?.includes(name));
      await vi.waitFor(() => expect(ends().length).toBeGreaterThanOrEqual(2), patient);
      expect(await ask(service)).toBe(200);
      const [first = 0, second = 0] = ends().map(({ restartMilliseconds }) => restartMilliseconds);
      expect(second).toBeGreaterThan(first);
    } finally {
      await allow(true);
    }
    await untilReplaced(service, 1, former);
  });
});

describe.skipIf(serverUrl === null || redisUrl === undefined)('the end of two workers', () => {
  test('on SIGTERM under load: open requests are answered and logged, and the service exits with 0', async () => {
    const service = await startOwn();
    const load = await startLoad(service.url, { customers: 8, goOn: false });
    await vi.waitFor(() => expect(load.answered()).toBeGreaterThan(100), patient);
    expect(await service.stop()).toBe(0);
    await load.ended;
    for (const failure of load.failures()) expect(failure).toMatchObject({ code: 'ECONNREFUSED' });
    expect(
      linesOf(service, 'Stopping: finishing')
        .map(({ worker }) => worker)
        .toSorted(),
    ).toEqual([1, 2]);
    const [logged] = await sql<{ count: number }>(
      service.databaseUrl,
      `SELECT count(*)::int AS count FROM security_log WHERE event = 'license_validated' AND code = 'OK'`,
    );
    expect(logged?.count).toBe(load.answered());
  }, 120_000);

  test('on Ctrl-C, which reaches every process: it counts once', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const service = await startOwn();
    await holdConnection(service);
    for (const worker of [1, 2]) process.kill(pidOf(service, worker), 'SIGINT');
    expect(await service.stop('SIGINT')).toBe(0);
    expect(linesOf(service, 'Stopping: finishing')).toHaveLength(2);
  });

  test('on a second signal: all processes end at once', { tags: 'slow', timeout: 120_000 }, async () => {
    const service = await startOwn();
    await holdConnection(service);
    process.kill(service.pid, 'SIGTERM');
    await vi.waitFor(() => expect(linesOf(service, 'Stopping: finishing')).toHaveLength(2), patient);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await service.stop()).toBe(1);
    await vi.waitFor(
      () => expect([1, 2].some((worker) => isRunning(pidOf(service, worker)))).toBe(false),
      patient,
    );
  });

  test('when the supervisor is killed: the workers finish their requests and end, and the port is free', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const service = await startOwn();
    const load = await startLoad(service.url, { customers: 4, goOn: false });
    await service.stop('SIGKILL');
    await load.ended;
    for (const failure of load.failures()) expect(failure).toMatchObject({ code: 'ECONNREFUSED' });
    await vi.waitFor(
      () => expect([1, 2].some((worker) => isRunning(pidOf(service, worker)))).toBe(false),
      patient,
    );
    const [logged] = await sql<{ count: number }>(
      service.databaseUrl,
      `SELECT count(*)::int AS count FROM security_log WHERE event = 'license_validated' AND code = 'OK'`,
    );
    expect(logged?.count).toBe(load.answered());
  });
});

describe.skipIf(serverUrl === null || redisUrl === undefined)('two workers that cannot start', () => {
  test('fail if the address cannot be listened on', async () => {
    const { env, drop } = await install();
    onTestFinished(drop);
    const said = await startServiceProcess({ ...env, HOST: '192.0.2.1' }).then(String, String);
    expect(said).toMatch(/ended with 1:\n.*Cannot listen: .*EADDRNOTAVAIL.*Set HOST to/s);
    expect(said).not.toMatch(/\n\s+at /);
  }, 120_000);

  test('fail with another secret than before: one message, and no process is left', async () => {
    const { env, drop } = await install();
    onTestFinished(drop);
    const before = await start(env);
    await (await createWorld({ baseUrl: before.url })).createApplication();
    expect(await before.stop()).toBe(0);
    const said = await startServiceProcess({
      ...env,
      SERVICE_SECRET: 'another secret, which is long enough',
    }).then(String, String);
    expect(said).toContain('ended with 1');
    expect(said.match(/it was encrypted with another SERVICE_SECRET/g)).toHaveLength(1);
  }, 120_000);
});
