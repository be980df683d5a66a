/** @module-tag slow */
import { readdir } from 'node:fs/promises';
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
import { install, installationKinds } from './installation.ts';
import { canMount, mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** These tests start and stop processes, which is slow on a busy machine. */
const slow = 300_000;
const patient = { timeout: 60_000, interval: 100 };
const megabytes = { embedded: 96, server: 256 };
const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });
const minted = z.object({ keys: z.array(z.object({ licenseKey: z.string() })) });

function smallDisk(size: number): SmallDisk {
  const disk = mountSmallDisk(size);
  if (disk === null) throw new Error('No disk could be mounted');
  return disk;
}

test.skipIf(!canMount).each(installationKinds)(
  'with a full disk, no acknowledged write is lost, cached licenses are served, and everything works when there is space (%s)',
  async (kind) => {
    const disk = smallDisk(megabytes[kind]);
    onTestFinished(disk.unmount);
    const installation = await install(kind, disk.path);
    onTestFinished(installation.remove);
    let service: ServiceProcess | null = null;
    onTestFinished(async () => void (await service?.stop('SIGKILL')));
    service = await startServiceProcess(installation.env);
    const world = await createWorld({ baseUrl: service.url });
    const application = await world.createApplication();
    const answer = await world.client.post('/api/v1/account/api-keys', { name: 'minting' });
    const bearer = shownApiKey.parse(answer.body).key.apiKey;
    const bound = await application.mint({ amount: 5 });
    const session = await openSession({ baseUrl: service.url, clock: systemClock }, application);
    const validateBound = async () => {
      for (const { id, licenseKey } of bound) {
        expect(await session.ask(validatePath, { licenseKey, hwid: id })).toMatchObject({ code: 'OK' });
      }
    };
    for (const _ of ['bind', 'remember']) await validateBound();

    disk.fill();
    const acknowledged: string[] = [];
    const unexpected: unknown[] = [];
    const mint = async (baseUrl: string) => {
      const input = { applicationId: application.id, amount: 500, durationSeconds: 0 };
      const answer = await new ApiClient(baseUrl, { bearer }).post('/api/v1/licenses/create', input);
      if (answer.status === 201)
        acknowledged.push(...minted.parse(answer.body).keys.map((key) => key.licenseKey));
      else if (!isUnavailable(answer)) unexpected.push(answer.body);
      return answer.status;
    };
    let refused = 0;
    let hasEnded = false;
    for (let turn = 0; turn < 400 && refused < 3 && !hasEnded; turn += 1) {
      const status = await mint(service.url).catch(() => 'gone');
      if (status === 'gone') hasEnded = true;
      else if (status !== 201) refused += 1;
    }
    expect(unexpected).toEqual([]);
    expect(hasEnded || refused === 3, 'the disk was full').toBe(true);
    // An embedded database that cannot write its WAL has to end, together with its service.
    if (!hasEnded) await validateBound();
    const isReady = async (url: string) => (await fetch(`${url}/health/ready`)).status === 200;
    // The operator of a server monitors its disk.
    if (!hasEnded && kind === 'embedded') expect(await isReady(service.url)).toBe(false);
    await vi.waitFor(
      () => expect(service?.output()).toMatch(/No space left on device|disk full|Database unreachable/),
      patient,
    );

    disk.free();
    await installation.reviveDatabase();
    if (hasEnded) service = await startServiceProcess(installation.env);
    const { url } = service;
    await vi.waitFor(async () => expect(await mint(url)).toBe(201), patient);
    await vi.waitFor(async () => expect(await isReady(url)).toBe(true), patient);
    const afterwards = await openSession({ baseUrl: url, clock: systemClock }, application);
    const sample = acknowledged.filter((_, place) => place % 100 === 0 || place > acknowledged.length - 20);
    for (const licenseKey of sample) {
      expect(await afterwards.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
    }
    expect(await service.stop()).toBe(0);
    const [stored] = await installation.read((query) =>
      query<{ count: number }>(`SELECT count(*)::int AS count FROM licenses`),
    );
    expect(stored?.count).toBeGreaterThanOrEqual(acknowledged.length + bound.length);
    expect((Number(stored?.count) - bound.length) % 500, 'batches are whole').toBe(0);
    tally({ faults: 1, acknowledged: acknowledged.length });
  },
  slow,
);

test.skipIf(!canMount)(
  'a start on a full disk fails with advice',
  async () => {
    const disk = smallDisk(2);
    onTestFinished(disk.unmount);
    const said = await startServiceProcess({ DATA_DIR: join(disk.path, 'data') }).then(String, String);
    expect(said).toMatch(
      /The data directory \S+ cannot be used: .*no space left on device.*Free some space on its disk/i,
    );
    expect(said).not.toMatch(/\n\s+at /);
    tally({ faults: 1 });
  },
  slow,
);

test.skipIf(!canMount)(
  'a read-only data directory is refused with advice and not changed',
  async () => {
    const disk = smallDisk(96);
    onTestFinished(disk.unmount);
    const env = { DATA_DIR: disk.path, ...noLimits };
    expect(await (await startServiceProcess(env)).stop()).toBe(0);
    const before = await readdir(disk.path);
    disk.readOnly();
    const said = await startServiceProcess(env).then(String, String);
    expect(said).toMatch(/The data directory \S+ cannot be used: EROFS.*Remount its disk as writable/);
    expect(said).not.toMatch(/\n\s+at /);
    expect(await readdir(disk.path)).toEqual(before);
    tally({ faults: 1 });
  },
  slow,
);
