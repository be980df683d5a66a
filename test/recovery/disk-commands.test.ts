/** @module-tag slow */
import { createHash } from 'node:crypto';
import { openSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { templateOf } from '../../src/db/embedded/template.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { noLimits } from '../api/support.ts';
import { startCommand } from '../cli/command-process.ts';
import { ensureTemplate, silent } from '../setup/database.ts';
import { startServiceProcess } from '../setup/process.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';
import { canMount, mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** Full disks during a backup, during a first start, and for the log. */

const slow = 300_000;
const hasStack = /\n\s+at /;

function smallDisk(megabytes: number, files?: number): SmallDisk {
  const disk = mountSmallDisk(megabytes, files);
  if (disk === null) throw new Error('No disk could be mounted');
  onTestFinished(disk.unmount);
  return disk;
}

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-full-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function seededDatabase(): Promise<string> {
  const directory = await freshDirectory();
  const service = await startServiceProcess({ DATA_DIR: directory, ...noLimits });
  await createWorld({ baseUrl: service.url });
  expect(await service.stop()).toBe(0);
  return directory;
}

test.skipIf(!canMount)(
  'a backup to a full disk fails with a message, leaves no file, and keeps the backup that it was to replace',
  async () => {
    const DATA_DIR = await seededDatabase();
    const disk = smallDisk(4);
    const file = join(disk.path, 'a.backup');
    const back = (...words: string[]) => startCommand(['backup', ...words], { DATA_DIR }).ended;
    disk.fill();
    const refused = await back(file);
    expect(refused.stderr).toMatch(
      /a\.backup could not be written: ENOSPC.*The disk is full: free some space/s,
    );
    expect(refused.stderr).not.toMatch(hasStack);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(await readdir(disk.path)).toEqual(['filler']);

    disk.free();
    expect(await back(file)).toMatchObject({ code: 0 });
    const hash = async () =>
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
    const before = await hash();
    disk.fill();
    expect(await back('--force', file)).toMatchObject({ code: 1 });
    expect(await hash()).toBe(before);
    expect((await readdir(disk.path)).toSorted()).toEqual(['a.backup', 'filler']);
    tally({ faults: 2 });
  },
  slow,
);

test.skipIf(!canMount)(
  'a backup of a database on a full disk fails with a message and succeeds when there is space',
  async () => {
    const disk = smallDisk(96);
    const DATA_DIR = join(disk.path, 'data');
    await cp(await seededDatabase(), DATA_DIR, { recursive: true });
    const file = join(await freshDirectory(), 'b.backup');
    const back = () => startCommand(['backup', file], { DATA_DIR }).ended;
    const before = await readdir(DATA_DIR, { recursive: true });
    disk.fill();
    const refused = await back();
    expect(refused.stderr).toMatch(
      /The data directory \S+ cannot be used: ENOSPC.*Free some space on its disk/s,
    );
    expect(refused.stderr).not.toMatch(hasStack);
    expect(refused.code).toBe(1);
    expect(await readdir(DATA_DIR, { recursive: true })).toEqual(before);
    disk.free();
    expect(await back()).toMatchObject({ code: 0 });
    tally({ faults: 1 });
  },
  slow,
);

async function countTemplateFiles(): Promise<number> {
  await ensureTemplate();
  return (await readdir(templateOf(await readMigrations()).directory, { recursive: true })).length;
}

// Fewer and slightly more inodes than the files of a prepared database: the start needs some more.
test.skipIf(!canMount).each([
  ['space', 20, undefined],
  ['inodes', 160, 300],
  ['inodes for the first partitions of the log', 160, 'template'],
] as const)(
  'a first start that runs out of %s fails with advice, leaves nothing incomplete, and succeeds when there is enough',
  async (_what, megabytes, files) => {
    const disk = smallDisk(megabytes, files === 'template' ? (await countTemplateFiles()) + 15 : files);
    const env = { DATA_DIR: join(disk.path, 'data') };
    const said = await startServiceProcess(env).then(String, String);
    if (files === 'template') expect(said).toMatch(/a write that a start needs/);
    expect(said).toMatch(
      /No space left on device.*Free some space .*delete files if it has no free inodes/is,
    );
    expect(said).not.toMatch(hasStack);
    const left = (await readdir(env.DATA_DIR)).filter((name) => name !== 'postgres');
    expect(left).toEqual([]);
    disk.enlarge(200, 5_000);
    expect(await (await startServiceProcess(env)).stop()).toBe(0);
    tally({ faults: 1 });
  },
  slow,
);

test.skipIf(!canMount)(
  'a migration that runs out of space is rolled back with a message, and the next start applies it',
  async () => {
    const disk = smallDisk(160);
    const directory = join(disk.path, 'data');
    const migrations = await readMigrations();
    const fill =
      'CREATE TABLE filled AS SELECT repeat(md5(n::text), 50) AS text FROM generate_series(1, 2000) n';
    const further = {
      name: '29990101000000_fill',
      sql: fill,
      checksum: createHash('sha256').update(fill).digest('hex'),
    };
    const open = () => openEmbedded(directory, { log: silent, migrations, onFatal: () => undefined });
    const database = await open();
    onTestFinished(() => database.close().catch(() => undefined));
    const run = () => migrate(database.pool, { log: silent, migrations: [...migrations, further] });
    await migrate(database.pool, { log: silent, migrations });
    disk.fill();
    await expect(run()).rejects.toMatchObject({
      problem: 'failed-migration',
      message: expect.stringMatching(
        /"29990101000000_fill" failed and was rolled back: .*No space left on device/,
      ),
    });
    disk.free();
    expect(await run()).toMatchObject([{ name: further.name }]);
    tally({ faults: 1 });
  },
  slow,
);

const logLine = z.looseObject({ level: z.number(), time: z.string() });

test.skipIf(!canMount)(
  'a log on a full disk blocks nothing and continues with complete lines when there is space',
  async () => {
    const disk = smallDisk(1);
    const log = join(disk.path, 'log');
    await writeFile(log, '');
    const service = await startServiceProcess(
      { DATA_DIR: await freshDirectory(), ...noLimits },
      { output: openSync(log, 'a') },
    );
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    disk.fill();
    const before = (await readFile(log)).length;
    await createWorld({ baseUrl: service.url });
    for (let turn = 0; turn < 100; turn += 1) {
      expect((await fetch(`${service.url}/api/v1/auth/me`)).status).toBe(401);
    }
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect((await readFile(log)).length - before).toBeLessThan(8_192);
    disk.free();
    await fetch(`${service.url}/api/v1/auth/me`);
    await vi.waitFor(
      async () => {
        const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
        const requests = lines
          .map((line) => logLine.parse(JSON.parse(line)))
          .filter(({ msg }) => msg === 'request');
        expect(requests.length).toBeGreaterThan(100);
      },
      { timeout: 30_000, interval: 100 },
    );
    expect(await service.stop()).toBe(0);
    tally({ faults: 1 });
  },
  slow,
);
