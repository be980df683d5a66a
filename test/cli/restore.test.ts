import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { createPool } from '../../src/db/pool.ts';
import { type Position, readChanges } from '../../src/services/changes/read.ts';
import { serverUrl, silent } from '../setup/database.ts';
import {
  type After,
  freshDirectory,
  freshServerDatabase,
  query,
  seed,
  succeed,
  untilRestoring,
} from './places.ts';
import { runCommand } from './run-command.ts';

/** The rows in a backup, without revocation counters, which a restore raises. */
const content = (file: Buffer): string[] =>
  gunzipSync(file)
    .toString('utf8')
    .split('\n')
    .slice(1, -2)
    .filter((row) => !/^{"application_id":"[^"]*","rev":\d+}$/.test(row))
    .toSorted();

describe.skipIf(serverUrl === null)('a backup of a server', () => {
  let backup: Buffer;
  const undo: (() => Promise<void>)[] = [];
  const after: After = (each) => void undo.push(each);
  afterAll(async () => {
    for (const each of undo) await each();
  });
  beforeAll(async () => {
    const url = await freshServerDatabase(after);
    await succeed(['migrate'], { DATABASE_URL: url });
    await query(url, seed(5_000));
    const file = join(await freshDirectory(after), 'a.backup');
    await succeed(['backup', file], { DATABASE_URL: url });
    backup = await readFile(file);
  });

  async function written(bytes: Buffer | string): Promise<string> {
    const file = join(await freshDirectory(), 'a.backup');
    await writeFile(file, bytes);
    return file;
  }

  test('restores exactly, on a server and on an embedded database', async () => {
    const file = await written(backup);
    const url = await freshServerDatabase();
    const directory = await freshDirectory();
    const targets: Record<string, string>[] = [{ DATABASE_URL: url }, { DATA_DIR: join(directory, 'data') }];
    for (const env of targets) {
      await succeed(['restore', file], env);
      const again = join(await freshDirectory(), 'again.backup');
      await succeed(['backup', again], env);
      expect(content(await readFile(again))).toEqual(content(backup));
    }
    const [row] = await query(
      url,
      `SELECT (SELECT sum(change) FROM license_count_changes) AS licenses,
         (SELECT sum(count) FROM validation_counts) AS validations,
         (SELECT count(*) FROM security_log_default) AS unplaced,
         (SELECT count(*) FROM license_counts) AS twice,
         (SELECT response_messages ->> 'number' FROM applications) AS number,
         (SELECT count(*) FROM api_keys WHERE last_used_at = 'infinity') AS endless`,
    );
    expect(row).toEqual({
      licenses: '5000',
      validations: '5000',
      unplaced: '0',
      twice: '0',
      number: '12345678901234567890.10',
      endless: '1',
    });
  });

  test('is restored with revocation counters above those that clients saw after the backup', async () => {
    const before = Math.floor(Date.now() / 1000) - 1;
    const counters = async (url: string) =>
      (await query<{ rev: string }>(url, 'SELECT rev FROM revocation_counters')).map(({ rev }) =>
        Number(rev),
      );
    const url = await freshServerDatabase();
    await succeed(['restore', await written(backup)], { DATABASE_URL: url });
    const [rev = 0, ...others] = await counters(url);
    expect(rev).toBeGreaterThan(before);
    expect(others).toEqual([]);

    const ahead = 4_000_000_000;
    await query(url, `UPDATE revocation_counters SET rev = ${ahead}`);
    const file = join(await freshDirectory(), 'ahead.backup');
    await succeed(['backup', file], { DATABASE_URL: url });
    const again = await freshServerDatabase();
    await succeed(['restore', file], { DATABASE_URL: again });
    expect(await counters(again)).toEqual([ahead + 1]);
  });

  const end = (bytes: Buffer): number => bytes.length;
  const repacked = (change: (text: string) => string): Buffer =>
    gzipSync(change(gunzipSync(backup).toString('utf8')));

  /** A changed backup with a valid checksum. */
  const resealed = (change: (text: string) => string, encoding: 'utf8' | 'latin1' = 'utf8'): Buffer => {
    const lines = change(gunzipSync(backup).toString(encoding)).split('\n').slice(0, -2);
    const before = Buffer.from(`${lines.join('\n')}\n`, encoding);
    const sha256 = createHash('sha256').update(before).digest('hex');
    const last = `${JSON.stringify({ rows: lines.length - 1, sha256 })}\n`;
    return gzipSync(Buffer.concat([before, Buffer.from(last)]));
  };

  test.each<[string, () => Buffer | string, RegExp]>([
    ['truncated', () => backup.subarray(0, end(backup) / 2), /is damaged: its end is missing/],
    ['without its last byte', () => backup.subarray(0, -1), /is damaged: its end is missing/],
    [
      'with a flipped bit',
      () => {
        const bytes = Buffer.from(backup);
        const at = Math.floor(end(bytes) / 2);
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        return bytes;
      },
      /is damaged: (its content has changed|its end is missing|its last line is damaged)/,
    ],
    ['altered by hand', () => repacked((text) => text.replace('"OK"', '"KO"')), /its content has changed/],
    ['with a line less', () => repacked((text) => text.replace(/\n{"id"[^\n]*/, '')), /its end is missing/],
    ['with more at its end', () => repacked((text) => `${text}{}\n`), /there is data after its end/],
    [
      'of a newer format',
      () => repacked((text) => text.replace('"version":1', '"version":2')),
      /in a format/,
    ],
    [
      'of a newer database',
      () => repacked((text) => text.replace(/"2026[^"]*_create_bans"/, '"20990101000000_later"')),
      /whose migration "20990101000000_later" this version does not know/,
    ],
    [
      'of a changed migration',
      () => repacked((text) => text.replace(/"checksum":"..../, '"checksum":"0000')),
      /with other contents than in this version/,
    ],
    [
      'of a newer format with terminal escape codes in its version',
      () => repacked((text) => text.replace(/"version":1,"service":"/, '"version":2,"service":"\\u001b[2J')),
      /is not a Latchkey backup/,
    ],
    [
      'with terminal escape codes in the name of a migration',
      () => repacked((text) => text.replace(/"2026[^"]*_create_bans"/, '"\\u001b[2J"')),
      /its first line is damaged/,
    ],
    [
      'with rows for a table of PostgreSQL',
      () => resealed((text) => text.replace('"name":"developers"', '"name":"pg_authid"')),
      /rows for the table pg_authid where no Latchkey backup has them/,
    ],
    [
      'with rows for a table of counts',
      () => resealed((text) => text.replace('"name":"bans"', '"name":"license_counts"')),
      /rows for the table license_counts where/,
    ],
    [
      'with a table twice',
      () => resealed((text) => text.replace('"name":"api_keys"', '"name":"developers"')),
      /rows for the table developers where/,
    ],
    [
      'with tables in another order',
      () =>
        resealed((text) =>
          text.replace(/"name":"(end_users|end_user_sessions)"/g, (_, name) =>
            name === 'end_users' ? '"name":"end_user_sessions"' : '"name":"end_users"',
          ),
        ),
      /rows for the table end_users where/,
    ],
    [
      'with a first line that is too long',
      () => resealed((text) => text.replace('{', `{${' '.repeat(2 * 1024 * 1024)}`)),
      /is not a Latchkey backup: its first line is longer than that of any backup/,
    ],
    [
      'with a row that is not UTF-8',
      // In latin1, each byte maps to one character and back.
      () => resealed((text) => text.replace('"name":"App"', '"name":"A\xffp"'), 'latin1'),
      /is damaged: line 4, a row of applications, is not UTF-8/,
    ],
    [
      'with a first line that is not UTF-8',
      () => resealed((text) => text.replace('"source":"', '"source":"\xff'), 'latin1'),
      /its first line is damaged/,
    ],
    ['that is none', () => 'not even gzip', /is not a Latchkey backup/],
    ['that is another file', () => gzipSync('{"format":"other"}\n'), /is not a Latchkey backup/],
    ['that is empty', () => gzipSync(''), /it is empty/],
  ])('%s is refused before anything is made', async (_what, bytes, reason) => {
    const url = await freshServerDatabase();
    const run = await runCommand(['restore', await written(bytes())], { DATABASE_URL: url });
    expect(run.stderr).toMatch(reason);
    expect(run.stderr).not.toContain('\x1b');
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(
      await query(url, `SELECT FROM pg_class WHERE relname IN ('developers', '_prisma_migrations')`),
    ).toEqual([]);
  });

  test('is refused without the terminal escape codes that the server quotes from it', async () => {
    const file = await written(resealed((text) => text.replace('{"id":"01a1', '{"id":"\\u001b[2J')));
    const run = await runCommand(['restore', file], { DATABASE_URL: await freshServerDatabase() });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/type uuid: "\ufffd\[2J/);
    expect(run.stderr).toMatch(/table developers .*Nothing has been restored/s);
    expect(run.stderr).not.toContain('\x1b');
  });

  test('with rows that the database rejects is refused with an error that names the table and the rows', async () => {
    const url = await freshServerDatabase();
    const file = await written(
      resealed((text) =>
        text.replace(/("id":"01a1f9ca-9544-7000-8000-000000000bb8"[^\n]*"status":")active/, '$1never'),
      ),
    );
    const run = await runCommand(['restore', file], { DATABASE_URL: url });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(
      /Rows \d+ to \d+ of the table licenses cannot be restored: .*Nothing has been restored/s,
    );
    expect(await query(url, 'SELECT FROM developers')).toEqual([]);
  });

  test('is not restored under another master secret', async () => {
    const url = await freshServerDatabase();
    const env = { DATABASE_URL: url, SERVICE_SECRET: 'another secret of at least 32 bytes' };
    const run = await runCommand(['restore', await written(backup)], env);
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/master secret .* is not the one of this backup/);
    expect(await query(url, `SELECT FROM pg_class WHERE relname = 'developers'`)).toEqual([]);
  });

  test('replaces no data', async () => {
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    await query(url, seed(1));
    const run = await runCommand(['restore', await written(backup)], { DATABASE_URL: url });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/There is data in .*create another database/s);
    expect(await query(url, 'SELECT count(*) FROM licenses')).toEqual([{ count: '1' }]);
  });

  test('does not count rows that were removed by TRUNCATE before', async () => {
    const url = await freshServerDatabase();
    const file = await written(backup);
    const counted = `
      SELECT (SELECT sum(change) FROM license_count_changes) AS licenses,
        (SELECT sum(count) FROM validation_counts) AS validations,
        (SELECT sum(entries) FROM log_search_backlog) AS searchable,
        (SELECT count(*) FROM license_counts) AS folded, (SELECT count(*) FROM cache_changes WHERE keys <> '"all"') AS notes`;
    await succeed(['restore', file], { DATABASE_URL: url });
    const once = await query(url, counted);
    await query(
      url,
      `INSERT INTO license_counts SELECT application_id, status, expiry_hour, 5 FROM license_count_changes LIMIT 1;
       INSERT INTO cache_changes (cache, keys) VALUES ('license', '["x"]'); TRUNCATE developers, security_log CASCADE`,
    );
    await succeed(['restore', file], { DATABASE_URL: url });
    expect(await query(url, counted)).toEqual(once);
  });

  test.each([
    [
      'the service',
      '',
      /Other clients are connected to .*: "latchkey.*" of user ".*" from .*\. Stop the service/,
    ],
    [
      'a service with another application_name',
      '?application_name=shop',
      /: "shop" of user ".*" from .*\. Stop the service/,
    ],
  ])('waits for %s to be stopped', async (_who, parameters, reason) => {
    const url = await freshServerDatabase();
    const service = await openDatabase({ kind: 'server', url: url + parameters }, { log: silent });
    const file = await written(backup);
    try {
      const run = await runCommand(['restore', file], { DATABASE_URL: url });
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(reason);
    } finally {
      await service.close();
    }
    await succeed(['restore', file], { DATABASE_URL: url });
  });

  test('invalidates the cache of a service that connected during the restore', async () => {
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    const look = async (since: Position | null) => {
      const pool = createPool({ connectionString: url }, silent);
      return readChanges(pool, since).finally(() => pool.end());
    };
    const { position } = await look(null);
    await succeed(['restore', await written(backup)], { DATABASE_URL: url });
    const { changes } = await look(position);
    expect(changes).toEqual(
      expect.arrayContaining(['application', 'license', 'ban'].map((cache) => ({ cache, keys: 'all' }))),
    );
  });

  test('that is interrupted leaves the database empty, and can be restored again', async () => {
    const url = await freshServerDatabase();
    const file = await written(backup);
    const ending = new AbortController();
    const running = runCommand(['restore', file], { DATABASE_URL: url }, { signal: ending.signal });
    await untilRestoring(url);
    ending.abort();
    expect(await running).toMatchObject({ code: 1, stdout: '', stderr: 'Cancelled before it was done.\n' });
    expect(await query(url, 'SELECT count(*) FROM developers')).toEqual([{ count: '0' }]);
    await succeed(['restore', file], { DATABASE_URL: url });
  });

  test('of a database that was upgraded while its clock was behind can be restored', async () => {
    const source = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: source });
    const name = `(SELECT max(migration_name) FROM _prisma_migrations)`;
    await query(
      source,
      `UPDATE _prisma_migrations SET started_at = '2020-01-01' WHERE migration_name = ${name}`,
    );
    const file = join(await freshDirectory(), 'a.backup');
    await succeed(['backup', file], { DATABASE_URL: source });
    await succeed(['restore', file], { DATABASE_URL: await freshServerDatabase() });

    const listed = gunzipSync(await readFile(file))
      .toString('utf8')
      .split('\n', 1)[0];
    const { migrations } = z
      .object({ migrations: z.array(z.object({ name: z.string() })) })
      .parse(JSON.parse(listed ?? ''));
    expect(migrations.map((each) => each.name)).toEqual(migrations.map((each) => each.name).toSorted());
  });

  test('that lists its migrations in another order can be restored', async () => {
    const lastFirst = (text: string) =>
      text.replace(/"migrations":\[(.*?),({[^{}]*})\],"tables"/, '"migrations":[$2,$1],"tables"');
    const file = await written(resealed(lastFirst));
    await succeed(['restore', file], { DATABASE_URL: await freshServerDatabase() });
  });

  test('of an earlier version is migrated to this version', async () => {
    const url = await freshServerDatabase();
    const migrations = await readMigrations();
    const earlier = migrations.filter(({ name }) => name < '20261121140000');
    const pool = createPool({ connectionString: url }, silent);
    await migrate(pool, { log: silent, migrations: earlier });
    await pool.end();
    await query(url, seed(10));
    const file = join(await freshDirectory(), 'old.backup');
    await succeed(['backup', file], { DATABASE_URL: url });
    // The backup itself did not migrate the database.
    const applied = 'SELECT count(*)::int AS count FROM _prisma_migrations';
    expect(await query(url, applied)).toEqual([{ count: earlier.length }]);

    const target = await freshServerDatabase();
    const run = await succeed(['restore', file], { DATABASE_URL: target });
    expect(run.stdout).toMatch(`Applied ${migrations.length - earlier.length} later migrations`);
    expect(await query(target, applied)).toEqual([{ count: migrations.length }]);
    expect(await query(target, 'SELECT sum(count) FROM license_counts')).toEqual([{ sum: '10' }]);
  });

  test('of a version without devices has a device for each bound license after the restore', async () => {
    const url = await freshServerDatabase();
    const migrations = await readMigrations();
    const pool = createPool({ connectionString: url }, silent);
    const earlier = migrations.filter(({ name }) => name < '20261123100000');
    await migrate(pool, { log: silent, migrations: earlier });
    await pool.end();
    await query(url, seed(10));
    await query(
      url,
      `UPDATE licenses SET hwid = 'device of ' || id WHERE id = ANY (SELECT id FROM licenses ORDER BY id LIMIT 3);
       UPDATE licenses SET device_hash = 'a hash' WHERE id = (SELECT max(id::text)::uuid FROM licenses)`,
    );
    const file = join(await freshDirectory(), 'old.backup');
    await succeed(['backup', file], { DATABASE_URL: url });

    const target = await freshServerDatabase();
    await succeed(['restore', file], { DATABASE_URL: target });
    const devices = `
      SELECT license_id, hwid, device_hash FROM devices WHERE released_at IS NULL ORDER BY license_id`;
    const bound = `
      SELECT id AS license_id, hwid, device_hash FROM licenses
      WHERE hwid IS NOT NULL OR device_hash IS NOT NULL ORDER BY id`;
    const found = await query(target, devices);
    expect(found).toHaveLength(4);
    expect(found).toEqual(await query(url, bound));
  });

  test('keeps policies, devices, previous keys, and what licenses grant', async () => {
    const url = await freshServerDatabase();
    await succeed(['migrate'], { DATABASE_URL: url });
    await query(url, seed(3));
    await query(
      url,
      `INSERT INTO policies (id, application_id, code, name, starts_at, entitlements, metadata)
       SELECT gen_random_uuid(), id, 'pro', 'Pro', 'creation', '{"seats": 5}', '{"private": {"a": 1}}' FROM applications;
       UPDATE licenses SET policy_id = (SELECT id FROM policies), entitlements = '{"export.pdf": true}',
         metadata = '{"client": {"plan": "pro"}, "private": {}}', tags = '{a,"b c"}', moved_at = ARRAY[now()],
         suspended_at = now(), suspension_reason = 'unpaid', hwid = 'device ' || id, device_count = 1;
       INSERT INTO devices (id, license_id, hwid, name, first_seen_at, last_seen_at)
       SELECT gen_random_uuid(), id, hwid, 'Laptop', now(), now() FROM licenses;
       INSERT INTO devices (id, license_id, hwid, first_seen_at, last_seen_at, released_at, released_by)
       SELECT gen_random_uuid(), id, 'old', now(), now(), now(), 'customer' FROM licenses;
       INSERT INTO previous_license_keys (key_hash, license_id, valid_until)
       SELECT sha256(id::text::bytea), id, now() FROM licenses`,
    );
    const tables = ['policies', 'licenses', 'devices', 'previous_license_keys'];
    const rows = (database: string) =>
      Promise.all(
        tables.map((table) =>
          query(database, `SELECT to_jsonb(t) AS row FROM ${table} AS t ORDER BY to_jsonb(t)::text`),
        ),
      );
    const file = join(await freshDirectory(), 'a.backup');
    await succeed(['backup', file], { DATABASE_URL: url });
    const target = await freshServerDatabase();
    await succeed(['restore', file], { DATABASE_URL: target });
    const before = await rows(url);
    expect(before.map(({ length }) => length)).toEqual([1, 3, 6, 3]);
    expect(await rows(target)).toEqual(before);
  });
});
