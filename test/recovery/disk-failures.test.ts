/** @module-tag slow */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../src/lib/clock.ts';
import { noLimits } from '../api/support.ts';
import { isUnavailable } from '../faults/ledger.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';
import { canMount, makeReadOnly, mountSmallDisk, mountStoppingDisk, type SmallDisk } from './small-disk.ts';

/** An embedded database whose disk rejects new files for a while, without ending the engine. */

const slow = 300_000;
const patient = { timeout: 30_000, interval: 100 };
const minted = z.object({ keys: z.array(z.object({ licenseKey: z.string() })) });
const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });
const readinessReport = z.object({
  ready: z.boolean(),
  parts: z.object({ database: z.object({ ready: z.boolean(), detail: z.string() }) }),
});

async function readiness(url: string) {
  const answer = await fetch(`${url}/health/ready`);
  const { parts } = readinessReport.parse(await answer.json());
  return { status: answer.status, ...parts.database };
}

interface Refusal {
  begin(): void;
  end(): void;
}

/** Ways to make the test's disk reject files. `directory` is the service's data directory. */
const refusals: [string, (disk: SmallDisk) => Refusal][] = [
  ['has no inode left', (disk) => ({ begin: disk.fillWithFiles, end: disk.free })],
  [
    'is read-only',
    (disk) => {
      let undo: (() => void) | null = null;
      return {
        begin: () => {
          undo = makeReadOnly(disk.path);
        },
        end: () => {
          undo?.();
          undo = null;
        },
      };
    },
  ],
];

/** A service whose vendor mints licenses while a customer validates a cached one. */
async function startWork(directory: string) {
  const service: ServiceProcess = await startServiceProcess({
    DATA_DIR: directory,
    TRUST_PROXY: '1',
    ...noLimits,
  });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const { url } = service;
  const world = await createWorld({ baseUrl: url });
  const application = await world.createApplication();
  const answer = await world.client.post('/api/v1/account/api-keys', { name: 'minting' });
  const vendor = new ApiClient(url, { bearer: shownApiKey.parse(answer.body).key.apiKey });
  const [bound] = await application.mint({ amount: 1 });
  const session = await openSession({ baseUrl: url, clock: systemClock }, application);
  const validate = (licenseKey = bound?.licenseKey) => session.ask(validatePath, { licenseKey });
  expect(await validate()).toMatchObject({ code: 'OK' });
  expect(await readiness(url)).toMatchObject({ status: 200, ready: true });
  const acknowledged: string[] = [];
  const unexpected: unknown[] = [];
  const mint = async () => {
    const input = { applicationId: application.id, amount: 500, durationSeconds: 0 };
    const answer = await vendor.post('/api/v1/licenses/create', input);
    if (answer.status === 201)
      acknowledged.push(...minted.parse(answer.body).keys.map((key) => key.licenseKey));
    else if (!isUnavailable(answer)) unexpected.push(answer.body);
    return answer.status;
  };
  /** All acknowledged data is there, and the service accepts more writes and shuts down cleanly. */
  const expectWhole = async () => {
    await vi.waitFor(async () => expect(await readiness(url)).toMatchObject({ status: 200 }), patient);
    for (let turn = 0; turn < 5; turn += 1) expect(await mint()).toBe(201);
    expect(unexpected).toEqual([]);
    for (const licenseKey of acknowledged.filter((_, place) => place % 100 === 0))
      expect(await validate(licenseKey)).toMatchObject({ code: 'OK' });
    expect(await service.stop()).toBe(0);
    tally({ faults: 1, acknowledged: acknowledged.length });
  };
  /** A service at another address has all acknowledged data. */
  const stored = async (baseUrl: string) => {
    const session = await openSession({ baseUrl, clock: systemClock }, application);
    for (const licenseKey of acknowledged.filter((_, place) => place % 100 === 0))
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  };
  return { service, validate, mint, unexpected, expectWhole, stored };
}

function smallDisk(megabytes: number, files?: number): SmallDisk {
  const disk = mountSmallDisk(megabytes, files);
  if (disk === null) throw new Error('No disk could be mounted');
  onTestFinished(disk.unmount);
  return disk;
}

test.skipIf(!canMount).each(refusals)(
  'a disk that %s is reported, no acknowledged write is lost, and writes resume without a restart',
  async (_what, refusalOf) => {
    const disk = smallDisk(160, 4_000);
    const refusal = refusalOf(disk);
    onTestFinished(() => refusal.end());
    const { service, validate, mint, unexpected, expectWhole } = await startWork(disk.path);
    refusal.begin();
    let refused = 0;
    for (let turn = 0; turn < 100 && refused < 3; turn += 1) if ((await mint()) !== 201) refused += 1;
    expect(unexpected).toEqual([]);
    expect(refused).toBe(3);
    expect(await readiness(service.url)).toMatchObject({
      status: 503,
      detail: expect.stringMatching(/no writes/),
    });
    expect(await validate()).toMatchObject({ code: 'OK' });
    refusal.end();
    await expectWhole();
  },
  slow,
);

test.skipIf(!canMount)(
  'a disk whose file system fails ends the process at once, and all acknowledged data is there after the repair',
  async (context) => {
    const disk = mountStoppingDisk();
    if (disk === null) return context.skip('there is no ext4 here');
    onTestFinished(disk.unmount);
    const directory = join(disk.path, 'data');
    const { service, mint, unexpected, stored } = await startWork(directory);
    expect(await mint()).toBe(201);
    disk.stop();
    const ended = await mint().catch(() => 'gone');
    expect(ended, 'what cannot be stored is not acknowledged').not.toBe(201);
    expect(unexpected).toEqual([]);
    await vi.waitFor(() => expect(service.output()).toMatch(/The embedded database died/), patient);
    expect(await service.stop()).toBe(1);
    expect(service.output()).toMatch(/Read-only file system/);

    const said = await startServiceProcess({ DATA_DIR: directory }).then(String, String);
    expect(said).toMatch(/cannot be used: EROFS.*Remount its disk as writable/);
    disk.repair();
    const again = await startServiceProcess({ DATA_DIR: directory, TRUST_PROXY: '1', ...noLimits });
    onTestFinished(async () => void (await again.stop('SIGKILL')));
    await stored(again.url);
    expect(await again.stop()).toBe(0);
    tally({ faults: 1 });
  },
  slow,
);

const hasLimits = process.platform === 'linux' && spawnSync('prlimit', ['--version']).status === 0;
if (!hasLimits) process.stderr.write('Skipped: a process without descriptors (there is no prlimit here).\n');

test.skipIf(!hasLimits)(
  'a process without free file descriptors loses no acknowledged write and resumes writes without a restart',
  async () => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-descriptors-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const { service, mint, expectWhole } = await startWork(directory);
    const limit = (most: string) =>
      execFileSync('prlimit', [`--nofile=${most}:`, '--pid', String(service.pid)]);
    const usual = (await readFile(`/proc/${service.pid}/limits`, 'utf8')).match(/Max open files +(\d+)/);
    const taken = new Set(await readdir(`/proc/${service.pid}/fd`));
    let lowestFree = 0;
    while (taken.has(String(lowestFree))) lowestFree += 1;
    limit(String(lowestFree));
    // New connections fail now; existing ones get answers.
    for (let turn = 0; turn < 20; turn += 1) await mint().catch(() => null);
    limit(usual?.[1] ?? '');
    await expectWhole();
  },
  slow,
);
