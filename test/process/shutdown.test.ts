import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { DatabaseAddress } from '../../src/db/address.ts';
import { openDatabase } from '../../src/db/database.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { createWorld } from '../setup/world.ts';
import { holdConnection } from './hold-connection.ts';

/** SIGTERM to the built service, and the database after its end. */

interface OwnDatabase {
  readonly env: Readonly<Record<string, string>>;
  readonly address: DatabaseAddress;
}

async function embedded(): Promise<OwnDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-shutdown-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { env: { DATA_DIR: directory }, address: { kind: 'embedded', directory } };
}

async function onServer(): Promise<OwnDatabase> {
  const { url, drop } = await createServerDatabase();
  onTestFinished(drop);
  const env = { DATABASE_URL: url, SERVICE_SECRET: randomBytes(32).toString('base64') };
  return { env, address: { kind: 'server', url } };
}

const databases: [string, () => Promise<OwnDatabase>][] = [['the embedded database', embedded]];
if (serverUrl !== null) databases.push(['a PostgreSQL server', onServer]);

async function start(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const service = await startServiceProcess({ TRUST_PROXY: '1', ...env });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

const codeOfCause = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause
    ? error.cause.code
    : undefined;

/** Validates licenses one after another over kept-alive connections until the service stops listening. */
async function validateUntilGone(baseUrl: string, workers: number) {
  const application = await (await createWorld({ baseUrl })).createApplication();
  const waiting = await application.mint({ amount: 10_000 });
  const answered: string[] = [];
  const failures: unknown[] = [];
  const work = async () => {
    const session = await openSession({ baseUrl, clock: systemClock }, application);
    let lastRequestAt = performance.now();
    for (let license = waiting.pop(); license !== undefined; license = waiting.pop()) {
      const sinceLastRequest = performance.now() - lastRequestAt;
      lastRequestAt = performance.now();
      try {
        const { code } = await session.ask(validatePath, { licenseKey: license.licenseKey });
        if (code === 'OK') answered.push(license.id);
        else failures.push(code);
      } catch (error) {
        const code = codeOfCause(error);
        // A stopping service closes a connection that was idle for half a second; on a busy machine, it may have been.
        const wasIdle = code === 'UND_ERR_SOCKET' && sinceLastRequest > 400;
        if (code !== 'ECONNREFUSED' && !wasIdle) failures.push(error);
        return;
      }
    }
    failures.push('no license is left to validate');
  };
  return { answered, failures, gone: Promise.all(Array.from({ length: workers }, work)) };
}

describe.each(databases)('SIGTERM on %s', (_name, open) => {
  test('under keep-alive load exits with 0 and loses no response and no log entry', async () => {
    const { env, address } = await open();
    const service = await start({ ...env, RATE_LIMITS: 'validate=1000000,session=1000' });
    const load = await validateUntilGone(service.url, 8);
    await vi.waitFor(() => expect(load.answered.length).toBeGreaterThan(200), { timeout: 20_000 });
    expect(await service.stop()).toBe(0);
    await load.gone;
    expect(load.failures).toEqual([]);

    const database = await openDatabase(address, { log: silent });
    onTestFinished(() => database.close());
    const logged = await database.prisma.securityLogEntry.findMany({
      where: { event: 'license_validated', code: 'OK' },
      select: { licenseId: true },
    });
    const seen = await database.prisma.license.findMany({
      where: { lastIp: { not: null }, status: 'active' },
      select: { id: true },
    });
    const logIds = new Set(logged.map(({ licenseId }) => licenseId));
    const seenIds = new Set(seen.map(({ id }) => id));
    expect(load.answered.filter((id) => !logIds.has(id))).toEqual([]);
    expect(load.answered.filter((id) => !seenIds.has(id))).toEqual([]);
  }, 90_000);
});

test('an incomplete request does not keep the service from exiting with 0', async () => {
  const service = await start({ DATA_DIR: 'memory:' });
  const { hostname, port } = new URL(service.url);
  const stranger = connect(Number(port), hostname);
  stranger.on('error', () => {});
  onTestFinished(() => void stranger.destroy());
  stranger.write(
    'POST /api/v1/session/init HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"a',
  );
  // The same with a connection that has sent nothing.
  await holdConnection(service);
  expect(await service.stop()).toBe(0);
}, 60_000);

/** Sends the first signal and waits until it has arrived: two equal signals at once would be merged. */
async function stopping(service: ServiceProcess, signal: NodeJS.Signals): Promise<void> {
  process.kill(service.pid, signal);
  await vi.waitFor(() => expect(service.output()).toContain('Stopping'), { timeout: 10_000, interval: 5 });
}

test('Ctrl-C under npm start arrives twice but counts once: the log is written before the end', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const service = await start({ DATA_DIR: 'memory:' });
  await holdConnection(service);
  await stopping(service, 'SIGINT');
  expect(await service.stop('SIGINT')).toBe(0);
});

test('a second signal ends the service at once', { tags: 'slow', timeout: 60_000 }, async () => {
  const service = await start({ DATA_DIR: 'memory:' });
  await holdConnection(service);
  await stopping(service, 'SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await service.stop()).toBe(1);
});
