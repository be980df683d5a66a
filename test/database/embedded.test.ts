import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { engineMajorVersion } from '../../src/db/embedded/data-directory.ts';
import { DurableFiles } from '../../src/db/embedded/durable-files.ts';
import { type Embedded, openEmbedded } from '../../src/db/embedded/embedded.ts';
import { ownerOf } from '../../src/db/embedded/lock-file.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { createTestDatabase, ensureTemplate, silent } from '../setup/database.ts';
import { hasElsewhere } from '../setup/elsewhere.ts';
import { openInProcess } from './fixtures/processes.ts';

const undo: (() => Promise<unknown>)[] = [];
beforeAll(ensureTemplate);
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'test-embedded-'));
  undo.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function open(directory: string): Promise<Database> {
  const database = await openDatabase({ kind: 'embedded', directory }, { log: silent });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await database.close();
  };
  undo.push(close);
  return { ...database, close };
}

async function openWithThread(directory: string | null, onFatal?: (error: Error) => void): Promise<Embedded> {
  const migrations = await readMigrations();
  const embedded = await openEmbedded(directory, { log: silent, migrations, onFatal: onFatal ?? (() => {}) });
  undo.push(embedded.close);
  return embedded;
}

async function insertDeveloper(database: Pick<Database, 'pool'>, id: string = randomUUID()): Promise<string> {
  await database.pool.query(
    `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1::uuid, $1::text, $1::text, '', '$argon2id$')`,
    [id],
  );
  return id;
}

async function ids(database: Pick<Database, 'pool'>): Promise<string[]> {
  return (await database.pool.query<{ id: string }>('SELECT id FROM developers')).rows.map((row) => row.id);
}

/** The file operations that the engine would call, on tables that only record the calls. */
async function operationsOf(files: DurableFiles) {
  type Table = Record<string, (stream: { nfd: number }) => void>;
  const done: string[] = [];
  const noting = (...names: string[]): Table =>
    Object.fromEntries(names.map((name) => [name, () => void done.push(name)]));
  const tables = {
    node_ops: noting('setattr', 'mknod', 'rename', 'unlink', 'rmdir', 'symlink'),
    stream_ops: noting('setattr', 'write', 'open'),
    convertNodeCode: () => 0,
  };
  const names = noting('lookupNode', 'destroyNode', 'closeStream');
  const { emscriptenOpts } = await Reflect.apply(files.init, files, [null, {}]);
  emscriptenOpts.preRun.at(-1)({ NODEFS: tables, FS: names });
  return { node_ops: tables.node_ops, stream_ops: tables.stream_ops, done };
}

describe('an embedded database', () => {
  it('keeps its data across restarts', async () => {
    const directory = await newDirectory();
    const one = await open(directory);
    const id = await insertDeveloper(one);
    await one.close();
    expect(await ids(await open(directory))).toEqual([id]);
  });

  it('is created by initdb if there is no template', { tags: 'slow' }, async () => {
    const directory = await newDirectory();
    const onFatal = () => {};
    const embedded = await openEmbedded(directory, { log: silent, migrations: [], onFatal });
    undo.push(embedded.close);
    const found = await embedded.pool.query('SELECT datname FROM pg_database');
    expect(found.rows).toEqual([{ datname: 'postgres' }]);
  });

  it('has the major version that the directory check expects', async () => {
    const { pool } = await openWithThread(null);
    const found = await pool.query('SHOW server_version_num');
    expect(Math.floor(Number(found.rows[0].server_version_num) / 10_000)).toBe(engineMajorVersion);
  });

  it('gives only its owner access to its files and its socket', async () => {
    const directory = join(await newDirectory(), 'data');
    const database = await open(directory);
    const socketDirectory = String(database.pool.options.host);
    for (const path of [directory, join(directory, 'postgres'), socketDirectory]) {
      expect((await stat(path)).mode & 0o777, path).toBe(0o700);
    }
  });

  it('leaves no lock, socket or draft behind when it is closed', async () => {
    const directory = await newDirectory();
    const database = await open(directory);
    const socketDirectory = String(database.pool.options.host);
    await database.close();
    expect(await readdir(directory)).toEqual(['postgres']);
    expect(existsSync(socketDirectory)).toBe(false);
  });

  it('removes the incomplete copy of an interrupted first start', async () => {
    const directory = await newDirectory();
    await mkdir(join(directory, 'postgres.new-interrupted/base'), { recursive: true });
    const database = await open(directory);
    await database.close();
    expect(await readdir(directory)).toEqual(['postgres']);
  });

  it('in memory is separate from other databases in memory', async () => {
    const one = await createTestDatabase('memory');
    undo.push(one.close);
    await insertDeveloper(one);
    const two = await createTestDatabase('memory');
    undo.push(two.close);
    expect(await ids(two)).toEqual([]);
  });
});

describe('durability', () => {
  it('syncs to the disk once per commit', async () => {
    const { pool, thread } = await openWithThread(await newDirectory());
    await pool.query('CREATE TABLE numbers (n INT)');
    const before = await thread.countSyncs();
    for (let n = 0; n < 20; n += 1) await pool.query('INSERT INTO numbers VALUES ($1)', [n]);
    expect((await thread.countSyncs()) - before).toBe(20);
  });

  it('does not sync for a read', async () => {
    const { pool, thread } = await openWithThread(await newDirectory());
    await pool.query('SELECT 1');
    const before = await thread.countSyncs();
    for (let n = 0; n < 20; n += 1) await pool.query('SELECT count(*) FROM pg_class');
    expect(await thread.countSyncs()).toBe(before);
  });

  it('runs with every setting that a crash-safe PostgreSQL needs', async () => {
    const { pool } = await openWithThread(await newDirectory());
    for (const [setting, value] of [
      ['fsync', 'on'],
      ['synchronous_commit', 'on'],
      ['full_page_writes', 'on'],
      ['wal_sync_method', 'fsync'],
    ]) {
      const found = await pool.query(`SELECT current_setting($1) AS value`, [setting]);
      expect(found.rows[0].value, setting).toBe(value);
    }
  });

  it('ends when the engine finds a file that it did not find before', async () => {
    const failures: Error[] = [];
    const { pool } = await openWithThread(await newDirectory(), (error) => failures.push(error));
    const raise = (code: string) =>
      pool.query(`DO $$ BEGIN RAISE EXCEPTION 'made by a test' USING ERRCODE = '${code}'; END $$`);
    await expect(raise('23505')).rejects.toThrow('made by a test');
    expect(failures).toEqual([]);
    for (const _ of ['first', 'second']) await expect(raise('58P02')).rejects.toThrow('made by a test');
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('made by a test')]);
  });

  it('reports that it is read-only from a write that the disk rejects until a test write succeeds', async () => {
    const { pool, isReadOnly } = await openWithThread(await newDirectory());
    expect(isReadOnly()).toBe(false);
    const raise = `DO $$ BEGIN RAISE EXCEPTION 'made by a test' USING ERRCODE = '53100'; END $$`;
    await expect(pool.query(raise)).rejects.toThrow('made by a test');
    expect(isReadOnly()).toBe(true);
    await vi.waitFor(() => expect(isReadOnly()).toBe(false), { timeout: 20_000 });
    const found = await pool.query(`SELECT relname FROM pg_class WHERE relname LIKE '%sample%'`);
    expect(found.rows, 'nothing is left of it').toEqual([]);
  });

  it('stops the engine when the disk fails to sync', async () => {
    const failures: unknown[] = [];
    const files = new DurableFiles(
      await newDirectory(),
      () => undefined,
      (error) => failures.push(error),
    );
    const { stream_ops: operations } = await operationsOf(files);
    expect(() => operations.fsync?.({ nfd: 2 ** 30 })).toThrow(/EBADF/);
    expect(failures).toHaveLength(1);
    expect(files.syncs).toBe(0);
  });

  it.each([
    ['node_ops', 'setattr'],
    ['node_ops', 'mknod'],
    ['node_ops', 'rename'],
    ['node_ops', 'unlink'],
    ['node_ops', 'rmdir'],
    ['node_ops', 'symlink'],
    ['stream_ops', 'setattr'],
    ['stream_ops', 'write'],
    ['stream_ops', 'fsync'],
  ] as const)(
    'stops without changing files that another process has taken over: %s.%s',
    async (table, name) => {
      const failures: unknown[] = [];
      const lost = () => {
        throw new Error('taken over');
      };
      const files = new DurableFiles(await newDirectory(), lost, (error) => failures.push(error));
      const { done, ...tables } = await operationsOf(files);
      const descriptor = openSync(join(await newDirectory(), 'file'), 'w');
      expect(() => tables[table][name]?.({ nfd: descriptor })).toThrow('taken over');
      closeSync(descriptor);
      expect(failures).toHaveLength(1);
      expect(done).toEqual([]);
    },
  );

  // Run more kills with TEST_KILLS=100. Each takes a second or two.
  const kills = Number(process.env.TEST_KILLS ?? 15);
  it('loses no acknowledged write when it is killed, twice', { timeout: 120_000 }, () => losesNothing(2));
  it(
    `loses no acknowledged write when it is killed, ${kills} times`,
    {
      tags: 'slow',
      timeout: kills * 20_000,
    },
    () => losesNothing(kills),
  );

  async function losesNothing(times: number): Promise<void> {
    const directory = await newDirectory();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < times; kill += 1) {
      const holder = openInProcess(directory, 'write');
      const opened = await holder.line();
      if (opened === undefined) throw new Error((await holder.ended).stderr);
      // In each earlier round, one write may have been committed without an acknowledgement.
      expect(Number(opened.split(' ')[1])).toBeGreaterThanOrEqual(acknowledged.length);
      const writes = 1 + (kill % 7) * 5;
      for (let line = await holder.line(); line !== undefined; line = await holder.line()) {
        acknowledged.push(line);
        if (acknowledged.length % writes === 0) holder.kill();
      }
      await holder.ended;
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(times);
    expect(await ids(await open(directory))).toEqual(expect.arrayContaining(acknowledged));
  }
});

// Each of these processes loads the service from source, which is slow on a busy machine.
describe('one process at a time', { timeout: 120_000 }, () => {
  it('is refused a directory that another process uses, with its pid', async () => {
    const directory = await newDirectory();
    const holder = openInProcess(directory, 'hold');
    expect(await holder.line()).toBe('open 0');
    const second = openInProcess(directory, 'hold');
    const { code, stderr } = await second.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`${directory} is in use by process ${holder.pid}`);
    await expect(open(directory)).rejects.toMatchObject({ name: 'DatabaseStartError', problem: 'locked' });
    holder.finish();
    expect((await holder.ended).code).toBe(0);
    await open(directory);
  });

  it('is refused a directory that it already uses itself', async () => {
    const directory = await newDirectory();
    await open(directory);
    await expect(open(directory)).rejects.toMatchObject({ problem: 'locked' });
  });

  it('takes over from a killed process and removes its socket', { tags: 'slow' }, async () => {
    const directory = await newDirectory();
    const holder = openInProcess(directory, 'hold');
    expect(await holder.line()).toBe('open 0');
    const owner = JSON.parse(await readFile(join(directory, 'postgres.lock.1'), 'utf8'));
    expect(owner.pid).toBe(holder.pid);
    expect(existsSync(owner.socketDirectory)).toBe(true);
    holder.kill();
    await holder.ended;
    await open(directory);
    expect(await readdir(directory)).toEqual(['postgres', 'postgres.lock.2']);
    expect(existsSync(owner.socketDirectory)).toBe(false);
  });

  it.skipIf(!hasElsewhere)(
    'keeps its lock against another container while its event loop is blocked',
    { tags: 'slow' },
    async () => {
      const directory = await newDirectory();
      const holder = openInProcess(directory, 'stall', { isElsewhere: true });
      undo.push(async () => holder.kill());
      expect(await holder.line()).toBe('open 0');
      expect(await holder.line()).toBe('stalling');
      const outcome = open(directory).then(
        () => 'taken over',
        (error: unknown) => error,
      );
      expect(await outcome).toMatchObject({ problem: 'locked' });
    },
  );

  it('is the only one of several concurrent starts, with or without a stale lock', {
    tags: 'slow',
  }, async () => {
    const directory = await newDirectory();
    for (const _ of ['none', 'stale']) {
      const starters = Array.from({ length: 3 }, () => openInProcess(directory, 'hold'));
      const lines = await Promise.all(starters.map((starter) => starter.line()));
      expect(lines.filter((line) => line === 'open 0')).toHaveLength(1);
      for (const starter of starters) starter.kill();
      await Promise.all(starters.map((starter) => starter.ended));
    }
  });
});

describe('a directory that cannot be opened', () => {
  it('reports the PostgreSQL version that wrote it, if that is another major version', async () => {
    const directory = await newDirectory();
    await (await open(directory)).close();
    await writeFile(join(directory, 'postgres/PG_VERSION'), '17\n');
    await expect(open(directory)).rejects.toMatchObject({
      problem: 'other-major-version',
      message: expect.stringMatching(
        /written by PostgreSQL 17, and this version of Latchkey has PostgreSQL 18/,
      ),
    });
    expect(await readdir(directory)).toEqual(['postgres']);
  });

  it('reports that the path is not a directory', async () => {
    const path = join(await newDirectory(), 'file');
    await writeFile(path, '');
    await expect(open(path)).rejects.toMatchObject({
      problem: 'not-writable',
      message: expect.stringContaining(`${path} cannot be used`),
    });
  });

  it.skipIf(process.getuid?.() === 0)('reports that the directory is not writable', async () => {
    const directory = await newDirectory();
    await chmod(directory, 0o500);
    await expect(open(directory)).rejects.toMatchObject({ problem: 'not-writable' });
  });

  it.each([
    ['an empty control file', (files: string) => truncate(join(files, 'global/pg_control'), 0)],
    [
      'a damaged control file',
      (files: string) => writeFile(join(files, 'global/pg_control'), Buffer.alloc(8192, 7)),
    ],
    ['no write-ahead log', (files: string) => rm(join(files, 'pg_wal'), { recursive: true })],
    ['no version file', (files: string) => rm(join(files, 'PG_VERSION'))],
    ['no base directory', (files: string) => rm(join(files, 'base'), { recursive: true })],
  ])(
    'says that a database with %s is damaged, and does not make another in its place',
    { tags: 'slow' },
    async (_, damage) => {
      const directory = await newDirectory();
      await (await open(directory)).close();
      await damage(join(directory, 'postgres'));
      await expect(open(directory)).rejects.toMatchObject({
        problem: 'damaged',
        message: expect.stringMatching(/postgres cannot be opened: .+ Restore a backup/),
      });
      expect(await readdir(directory)).toEqual(['postgres']);
    },
  );
});

describe('the directory for temporary files', () => {
  const socketDirectories = async (directory: string) =>
    (await readdir(directory)).filter((name) => name.startsWith('latchkey-'));

  it('is not used if the path of a socket in it would be too long', async () => {
    const directory = await newDirectory();
    const parent = await newDirectory();
    const long = join(parent, 'x'.repeat(105 - Buffer.byteLength(parent)));
    await mkdir(long);
    const holder = openInProcess(directory, 'hold', { temporary: long });
    undo.push(async () => holder.kill());
    expect(await holder.line()).toBe('open 0');
    const owner = await ownerOf(join(directory, 'postgres.lock.1'));
    const { socketDirectory } = z.object({ socketDirectory: z.string() }).parse(owner);
    expect(socketDirectory).toMatch(/^\/tmp\/latchkey-/);
    expect((await stat(socketDirectory)).mode & 0o777).toBe(0o700);
    expect(existsSync(join(socketDirectory, '.s.PGSQL.5432'))).toBe(true);
    expect(await readdir(parent)).toEqual([basename(long)]);
    holder.finish();
    expect(await holder.ended).toMatchObject({ code: 0 });
  });

  it('is named in the error if it does not exist', async () => {
    const holder = openInProcess(await newDirectory(), 'hold', { temporary: '/none/such' });
    expect((await holder.ended).stderr).toMatch(
      /directory for temporary files, \/none\/such, cannot be used: ENOENT.*set TMPDIR.*'not-writable'/s,
    );
  });

  it('without permission for a socket is not reported as damage to the database', {
    tags: 'slow',
  }, async () => {
    const directory = await newDirectory();
    await (await open(directory)).close();
    const own = await newDirectory();
    const holder = openInProcess(directory, 'hold', { temporary: own });
    await expect.poll(() => socketDirectories(own), { interval: 5, timeout: 20_000 }).toHaveLength(1);
    for (const name of await socketDirectories(own)) await rm(join(own, name), { recursive: true });
    expect((await holder.ended).stderr).toMatch(
      /could not be started: .+ Its files are probably not damaged.*'not-started'/s,
    );
    await (await open(directory)).close();
  });
});

describe('the thread', () => {
  it('runs a slow query without blocking the event loop', async () => {
    const { pool } = await openWithThread(null);
    let answered = false;
    const query = pool.query('SELECT pg_sleep(0.5)').then(() => {
      answered = true;
    });
    let turns = 0;
    while (!answered) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await query;
    expect(turns).toBeGreaterThan(100);
  });

  it('reports its death, fails waiting queries, and can still be closed', async () => {
    const directory = await newDirectory();
    const died = deferred<Error>();
    const { pool, close } = await openWithThread(directory, died.resolve);
    await pool.query('CREATE TABLE numbers (n INT)');
    // Without its WAL directory, PostgreSQL panics at the next segment.
    await rm(join(directory, 'postgres/pg_wal'), { recursive: true });
    await pool.query('SELECT pg_switch_wal()');
    const writes = Array.from({ length: 3 }, () => pool.query('INSERT INTO numbers VALUES (1)'));
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect((await died.promise).message).toMatch(/PANIC/);
    await close();
    expect(await readdir(directory)).toEqual(['postgres']);
  });
});

function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
