import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { ensureTemplate, silent } from '../setup/database.ts';
import { startServiceProcess } from '../setup/process.ts';
import { tally } from '../setup/tally.ts';

/** A data directory damaged by a disk, an interrupted copy or a person. More cases are in test/database. */

let pristine: string;
beforeAll(async () => {
  await ensureTemplate();
  pristine = await mkdtemp(join(tmpdir(), 'latchkey-damage-'));
  await (await open(pristine)).close();
});
afterAll(() => rm(pristine, { recursive: true, force: true }));

const open = (directory: string) => openDatabase({ kind: 'embedded', directory }, { log: silent });

async function copy(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-damage-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await cp(pristine, directory, { recursive: true });
  return directory;
}

/** The content of each file of a directory, without files that PostgreSQL writes or removes at its start. */
function contents(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !/postmaster\.(pid|opts)$|pg_internal\.init$|pg_control$|pg_wal\/|\.log$/.test(path))
      .map((path) => [
        path.slice(directory.length),
        createHash('sha256').update(readFileSync(path)).digest('hex'),
      ]),
  );
}

/** The folder of the only database. */
const base = (files: string) => join(files, 'base', readdirSync(join(files, 'base'))[0] ?? '');

describe('embedded files', () => {
  test.each<[string, (files: string) => void]>([
    ['half a control file', (files) => truncateSync(join(files, 'global/pg_control'), 100)],
    ['an empty map of catalogs', (files) => truncateSync(join(base(files), 'pg_filenode.map'), 0)],
    ['an empty catalog of tables', (files) => truncateSync(join(base(files), '1259'), 0)],
    ['an overwritten catalog', (files) => writeFileSync(join(base(files), '1259'), Buffer.alloc(8_192, 7))],
  ])('with %s are refused with advice, and not changed', async (_what, damage) => {
    const directory = await copy();
    damage(join(directory, 'postgres'));
    const before = contents(directory);
    await expect(open(directory)).rejects.toMatchObject({
      name: 'DatabaseStartError',
      problem: 'damaged',
      message: expect.stringMatching(/Restore a backup/),
    });
    expect(contents(directory)).toEqual(before);
    tally({ faults: 1 });
  });

  test('without the files that only a running server needs can be opened', async () => {
    const directory = await copy();
    for (const name of ['postmaster.pid', 'postmaster.opts'])
      await rm(join(directory, 'postgres', name), { force: true });
    await (await open(directory)).close();
  });

  test('with a partial lock file can be opened when no process holds it', { tags: 'slow' }, async () => {
    const directory = await copy();
    await writeFile(join(directory, 'postgres.lock.3'), '{"pid": 12');
    await (await open(directory)).close();
    tally({ faults: 1 });
  });
});

test('a service with a truncated secret file fails with advice and does not change the file', {
  tags: 'slow',
  timeout: 300_000,
}, async () => {
  const directory = await copy();
  const service = await startServiceProcess({ DATA_DIR: directory });
  expect(await service.stop()).toBe(0);
  const path = join(directory, 'service-secret');
  await truncate(path, 20);
  const before = readFileSync(path);
  const said = await startServiceProcess({ DATA_DIR: directory }).then(String, String);
  expect(said).toMatch(/service-secret does not contain .*secret.*Restore it from a backup/s);
  expect(said).not.toMatch(/\n\s+at /);
  expect(said).not.toContain(before.toString().trim());
  expect(readFileSync(path)).toEqual(before);
  tally({ faults: 1 });
});
