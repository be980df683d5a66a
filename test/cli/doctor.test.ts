import { createHash } from 'node:crypto';
import { chmod, chown, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { checkClock } from '../../src/cli/doctor/check-clock.ts';
import { checkIdle, checkLocks } from '../../src/cli/doctor/check-database.ts';
import { checkNode } from '../../src/cli/doctor/check-node.ts';
import { weaknessOf } from '../../src/cli/doctor/weakness.ts';
import { connectionsBesidePool } from '../../src/config.ts';
import { createMasterSecret, replaceMasterSecret } from '../../src/crypto/master-secret.ts';
import { advisoryLocks } from '../../src/db/advisory-locks.ts';
import { openDatabase } from '../../src/db/database.ts';
import { takeLock } from '../../src/db/embedded/lock.ts';
import { lowestId, partitionOf } from '../../src/db/log-partition.ts';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { createServerDatabase, ensureTemplate, serverUrl, silent } from '../setup/database.ts';
import { ask, OwnCluster, OwnSentinels } from '../setup/own-redis.ts';
import { startRelay } from '../setup/relay.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

const secret = 'Zk3vQ9x7Lr2mT8bN5cW1yH6jD4sF0gPaKu+oEi/RqXM=';
const long = 120_000;
const answer = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ check: z.string(), level: z.enum(['ok', 'warn', 'fail']), message: z.string() }),
  ),
});

/** The JSON output of doctor. */
async function examine(env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json'], env);
  const { ok, findings } = answer.parse(JSON.parse(stdout));
  const failures = findings.filter(({ level }) => level === 'fail');
  expect(ok).toBe(failures.length === 0);
  expect(code).toBe(ok ? 0 : 1);
  return {
    ok,
    all: stdout + stderr,
    failures: failures.map(({ check, message }) => `${check}: ${message}`).join('\n'),
    warnings: findings
      .filter(({ level }) => level === 'warn')
      .map(({ check, message }) => `${check}: ${message}`)
      .join('\n'),
    fine: findings
      .filter(({ level }) => level === 'ok')
      .map(({ check, message }) => `${check}: ${message}`)
      .join('\n'),
  };
}

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-doctor-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Every file in a directory tree, with its content and modification time. */
async function contentsOf(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const lines = files.map(async (path) => {
    const hash = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    return [path, (await stat(path)).mtimeMs, hash].join(' ');
  });
  return (await Promise.all(lines)).sort();
}

describe('the configuration', () => {
  test('has no failed check if it is valid, and one line per check', async () => {
    const directory = await freshDirectory();
    const run = await runCommand(['doctor'], { DATA_DIR: join(directory, 'new') });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const lines = run.stdout.trim().split('\n');
    for (const line of lines) expect(line).toMatch(/^(ok {2}|WARN) {2}[a-z ]+: ./);
    expect(run.stdout).toMatch(/does not exist yet: the first start creates it/);
  });

  test('has a finding for every problem', async () => {
    const { failures, all } = await examine({
      PORT: 'x',
      WORKERS: '0',
      DATA_DIR: await freshDirectory(),
      REDIS_URL: 'http://ada:opensesame@127.0.0.1',
    });
    expect(failures).toMatch(/PORT must be/);
    expect(failures).toMatch(/WORKERS must be/);
    expect(failures).toMatch(/REDIS_URL must be/);
    expect(all).not.toContain('opensesame');
  });

  test('of a public service gets warnings about unsafe settings', async () => {
    const base = { DATA_DIR: await freshDirectory(), HOST: '0.0.0.0' };
    const { warnings, ok } = await examine({
      ...base,
      CRYPTO_ENFORCE: 'false',
      METRICS_PORT: '9',
      METRICS_HOST: '::',
    });
    expect(ok).toBe(true);
    for (const name of [
      'NODE_ENV',
      'PUBLIC_URL',
      'REGISTRATION',
      'TURNSTILE',
      'CRYPTO_ENFORCE',
      'METRICS_HOST',
    ]) {
      expect(warnings).toContain(name);
    }
    expect(warnings).not.toContain('TRUST_PROXY');
    const behind = { ...base, PUBLIC_URL: 'https://keys.example.com', REGISTRATION: 'closed' };
    expect((await examine(behind)).warnings).toMatch(/TRUST_PROXY is 0/);
    const set = { ...behind, NODE_ENV: 'production', TRUST_PROXY: '1', SERVICE_SECRET: secret };
    expect((await examine(set)).warnings).toBe('');
  });
});

describe('Node.js', () => {
  test.each(['20.19.0', '20.20.1', '22.12.0', '24.0.0', '26.3.1'])('%s is supported', (version) => {
    expect(checkNode(version)).toMatchObject([{ level: 'ok' }]);
  });
  test.each(['18.20.8', '20.18.3', '21.7.3', '22.11.0', '23.11.0'])('%s is not supported', (version) => {
    expect(checkNode(version)).toMatchObject([{ level: 'fail' }]);
  });
});

test.each([
  [0, 'ok'],
  [-5_000, 'ok'],
  [5_100, 'warn'],
  [-30_000, 'warn'],
  [30_100, 'fail'],
  [-86_400_000, 'fail'],
] as const)('a clock that is %i ms ahead: %s', (ahead, level) => {
  expect(checkClock('Redis', ahead, 'redis')).toMatchObject({ check: 'redis clock', level });
});

describe('a secret', () => {
  test.each([
    'k'.repeat(32),
    'ab'.repeat(20),
    'abcdefghijklmnopqrstuvwxyz0123456789',
    'changeme-changeme-changeme-now-please',
    'My-very-long-Password-for-this-server!',
    '1111111111111111111111111111111100000',
    'aaaabbbbccccaaaabbbbddddaaaaccccbbbbd',
  ])('such as %s may be guessed', (weak) => {
    expect(weaknessOf(weak)).not.toBeNull();
  });
  test.each([
    secret,
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'correct horse battery staple and some more words',
  ])('such as %s may not', (strong) => {
    expect(weaknessOf(strong)).toBeNull();
  });
});

describe('a data directory', () => {
  beforeAll(ensureTemplate);

  test('that is a file fails the check', async () => {
    const path = join(await freshDirectory(), 'data');
    await writeFile(path, '');
    expect((await examine({ DATA_DIR: path })).failures).toMatch(/^data directory: .* is not a directory/);
  });

  test.each([
    [0o700, '', ''],
    [0o755, /is readable by other users \(mode 755\).*chmod 700/, ''],
    [0o777, '', /is writable by other users \(mode 777\).*chmod 700/],
  ])('of mode %o', async (mode, warned, failed) => {
    const directory = await freshDirectory();
    await chmod(directory, mode);
    const { warnings, failures } = await examine({ DATA_DIR: directory });
    expect(warnings).toMatch(warned);
    expect(failures).toMatch(failed);
    if (failed === '') expect(failures).toBe('');
  });

  test.skipIf(process.getuid?.() !== 0)(
    'gets a warning if its master secret belongs to another user',
    async () => {
      const directory = await freshDirectory();
      createMasterSecret(directory);
      expect((await examine({ DATA_DIR: directory })).warnings).toBe('');
      await chown(join(directory, 'service-secret'), 65_534, 65_534);
      const { ok, warnings } = await examine({ DATA_DIR: directory });
      expect(ok).toBe(true);
      expect(warnings).toMatch(
        /^secret: .* belongs to user 65534, who can read and replace it. This command runs as user 0/,
      );
    },
  );

  test('in use by a service is not opened', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    const lock = await takeLock(directory, '');
    onTestFinished(() => lock.release());
    const { ok, fine } = await examine({ DATA_DIR: directory });
    expect(ok).toBe(true);
    expect(fine).toMatch(new RegExp(`in use by process ${process.pid} `));
  });

  test('with a database that was killed is checked, and none of its files changes', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const directory = await freshDirectory();
    const database = await openDatabase({ kind: 'embedded', directory }, { log: silent });
    await database.pool.query('CREATE TABLE unfinished (n INT)');
    // A copy of the files at this moment, as a power loss would leave them.
    const left = join(await freshDirectory(), 'left');
    await cp(directory, left, { recursive: true });
    await database.close();
    const [name] = (await readdir(left)).filter((each) => each.startsWith('postgres.lock.'));
    const owner = { pid: 1, startTime: '1', place: 'elsewhere boot pid:[1]', socketDirectory: '' };
    await writeFile(join(left, name ?? ''), JSON.stringify(owner));
    createMasterSecret(left);
    const before = await contentsOf(left);
    const { ok, warnings, fine } = await examine({ DATA_DIR: left });
    expect(ok).toBe(true);
    expect(warnings).toMatch(/has a stale lock of process 1 \(elsewhere\) of another machine/);
    expect(fine).toMatch(/All \d+ migrations are applied/);
    expect(await contentsOf(left)).toEqual(before);
  });

  test('can be opened by a service at any moment of the check', { tags: 'slow', timeout: long }, async () => {
    const directory = await freshDirectory();
    const start = () => openDatabase({ kind: 'embedded', directory }, { log: silent });
    await (await start()).close();
    createMasterSecret(directory);
    let isLooking = true;
    const look = examine({ DATA_DIR: directory }).finally(() => {
      isLooking = false;
    });
    let started = 0;
    while (isLooking) {
      await (await start()).close();
      started += 1;
    }
    expect((await look).ok).toBe(true);
    expect(started).toBeGreaterThan(0);
  });

  test('with an invalid secret file fails the check and is not changed', async () => {
    const directory = await freshDirectory();
    await writeFile(join(directory, 'service-secret'), 'hello', { mode: 0o600 });
    expect((await examine({ DATA_DIR: directory })).failures).toMatch(/^secret: .*Restore it from a backup/);
  });

  test('gets advice to forget the previous secret a week after the rotation', async () => {
    const directory = await freshDirectory();
    createMasterSecret(directory);
    replaceMasterSecret(directory, Date.now() - 8 * 86_400_000);
    expect((await examine({ DATA_DIR: directory })).warnings).toMatch(/--forget-previous/);
    replaceMasterSecret(directory, Date.now());
    const { warnings, fine } = await examine({ DATA_DIR: directory });
    expect(warnings).toBe('');
    expect(fine).toMatch(/stay valid for 7 days/);
  });
});

test('doctor does not advise to forget a previous secret that private keys are encrypted under', {
  tags: 'slow',
  timeout: long,
}, async () => {
  const env = { DATA_DIR: await freshDirectory() };
  const service = await startTestServer({ database: 'memory', env });
  await (await createWorld(service)).createApplication();
  await service.close();
  replaceMasterSecret(env.DATA_DIR, Date.now() - 8 * 86_400_000);
  const { warnings } = await examine(env);
  expect(warnings).toMatch(/1 private keys are still encrypted under a previous secret/);
  expect(warnings).not.toMatch(/forget-previous|any more/);
});

describe.skipIf(serverUrl === null)('a PostgreSQL server', () => {
  let service: TestServer;
  let env: { readonly DATABASE_URL: string; readonly SERVICE_SECRET: string };
  let admin: pg.Client;
  beforeAll(async () => {
    service = await startTestServer({ database: 'server', env: { SERVICE_SECRET: secret } });
    env = { DATABASE_URL: service.databaseEnv.DATABASE_URL ?? '', SERVICE_SECRET: secret };
    await (await createWorld(service)).createApplication();
    admin = new pg.Client({ connectionString: env.DATABASE_URL });
    await admin.connect();
  }, long);
  afterAll(async () => {
    await admin.end();
    await service.close();
  });

  test(
    "is examined alongside all other work: only readers' locks are requested, and none is kept",
    async () => {
      const tables = await admin.query<{ names: string }>(
        `SELECT string_agg(quote_ident(relname), ', ') AS names FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
      );
      // Before the tables, and in a transaction that does not wait: the service builds indexes while it holds one of these locks,
      // and an index build waits for the end of older transactions.
      const lockAll = async (): Promise<boolean> => {
        await admin.query(`BEGIN; SET LOCAL lock_timeout = '60s'`);
        const { rows } = await admin.query<{ locked: boolean }>(
          'SELECT pg_try_advisory_xact_lock(key) AS locked FROM unnest($1::bigint[]) AS key',
          [Object.values(advisoryLocks)],
        );
        if (rows.every(({ locked }) => locked)) return true;
        await admin.query('ROLLBACK');
        return false;
      };
      await expect.poll(lockAll, { timeout: 60_000 }).toBe(true);
      try {
        // Allows reads only, not even row locks.
        await admin.query(`LOCK TABLE ${tables.rows[0]?.names} IN EXCLUSIVE MODE`);
        const { ok, failures } = await examine(env);
        expect(failures).toBe('');
        expect(ok).toBe(true);
        const { rows } = await admin.query(
          `SELECT mode FROM pg_locks JOIN pg_stat_activity USING (pid)
           WHERE application_name LIKE 'latchkey-command%' AND datname = current_database()`,
        );
        expect(rows).toEqual([]);
      } finally {
        await admin.query('ROLLBACK');
      }
    },
    long,
  );

  test(
    'that is healthy passes',
    async () => {
      const { ok, fine, all } = await examine(env);
      expect(ok).toBe(true);
      expect(fine).toMatch(/All \d+ migrations are applied/);
      expect(fine).toMatch(/database clock: .*0\.\d s/);
      expect(fine).toMatch(/The master secret decrypts the private keys of all 1 applications/);
      expect(fine).toMatch(/redis: REDIS_URL is not set: replay protection and rate limits are per process/);
      expect(all).not.toContain(secret);
    },
    long,
  );

  test(
    'that is unreachable fails, and the finding does not contain its password',
    async () => {
      const url = `postgresql://ada:opensesame@127.0.0.1:${await freePort()}/latchkey`;
      const { failures, all } = await examine({ ...env, DATABASE_URL: url });
      expect(failures).toMatch(/^database: Cannot reach the PostgreSQL server at 127\.0\.0\.1:/);
      expect(all).not.toContain('opensesame');
    },
    long,
  );

  test(
    'that does not answer fails after a timeout',
    async () => {
      const relay = await startRelay(env.DATABASE_URL);
      onTestFinished(() => relay.close());
      relay.pause();
      const { failures } = await examine({ ...env, DATABASE_URL: relay.url });
      expect(failures).toMatch(/^database: /);
    },
    long,
  );

  test(
    'with another master secret fails; with a previous one it needs a rotation',
    async () => {
      const other = { ...env, SERVICE_SECRET: `${secret}2` };
      expect((await examine(other)).failures).toMatch(
        /^secret: The master secret cannot decrypt the private keys of 1 of 1/,
      );
      const both = await examine({ ...other, SERVICE_SECRET_PREVIOUS: secret });
      expect(both.ok).toBe(true);
      expect(both.warnings).toMatch(/1 private keys are still encrypted under a previous secret/);
      const needless = await examine({ ...env, SERVICE_SECRET_PREVIOUS: `${secret}2` });
      expect(needless.warnings).toMatch(/No stored data needs SERVICE_SECRET_PREVIOUS/);
    },
    long,
  );

  test(
    'with a changed migration fails',
    async () => {
      const change = (sql: string) => admin.query(`UPDATE _prisma_migrations SET checksum = ${sql}`);
      await change('reverse(checksum)');
      try {
        expect((await examine(env)).failures).toMatch(/^database: The migration ".*other contents/);
      } finally {
        await change('reverse(checksum)');
      }
    },
    long,
  );

  test(
    'with a pending migration gets a warning',
    async () => {
      const { rows } = await admin.query<{ id: string }>(
        'SELECT id FROM _prisma_migrations ORDER BY migration_name DESC LIMIT 1',
      );
      const set = (at: string) =>
        admin.query(`UPDATE _prisma_migrations SET rolled_back_at = ${at} WHERE id = $1`, [rows[0]?.id]);
      await set('now()');
      try {
        expect((await examine(env)).warnings).toMatch(/1 migrations are pending/);
      } finally {
        await set('NULL');
      }
    },
    long,
  );

  test(
    "with entries in the log's default partition gets a warning",
    async () => {
      expect((await examine(env)).fine).toMatch(/has its partitions, and its default partition is empty/);
      const inAYear = lowestId(Date.now() + 365 * 86_400_000);
      await admin.query(
        `INSERT INTO security_log (id, developer_id, event) SELECT $1, id, 'login' FROM developers`,
        [inAYear],
      );
      try {
        expect((await examine(env)).warnings).toMatch(/entries in its default partition: the clock/);
      } finally {
        await admin.query('DELETE FROM security_log WHERE id = $1', [inAYear]);
      }
    },
    long,
  );

  test(
    'is told the age of its newest key of protocol version 2, and about keys of an unknown secret',
    async () => {
      expect((await examine(env)).fine).toMatch(
        /service keys: Keys of protocol version 2: 1, the newest 0 hours/,
      );
      await admin.query(`UPDATE service_keys SET created_at = created_at - interval '26 hours'`);
      try {
        expect((await examine(env)).warnings).toMatch(/the newest 26 hours old\. A running service replaces/);
        await admin.query(
          `INSERT INTO service_keys (key_id, public_key, private_key_encrypted, not_before, not_after,
             replay_epoch_sha256)
           SELECT (key_id + 1) % 256, public_key, private_key_encrypted, not_before, not_after, replay_epoch_sha256
           FROM service_keys`,
        );
        expect((await examine(env)).warnings).toMatch(/No configured master secret decrypts 1 keys/);
      } finally {
        await admin.query('DELETE FROM service_keys');
      }
      expect((await examine(env)).fine).toMatch(/no keys of protocol version 2 yet/);
    },
    long,
  );

  test(
    'with a transaction that has been idle for too long gets a warning',
    async () => {
      const pool = new pg.Pool({ connectionString: env.DATABASE_URL });
      onTestFinished(() => pool.end());
      expect(await checkIdle(pool, 0)).toMatchObject({ level: 'ok' });
      await admin.query('BEGIN; SELECT FROM applications');
      try {
        expect(await checkIdle(pool, 0)).toMatchObject({
          level: 'warn',
          message: expect.stringMatching(/^1 transactions are open and idle, the oldest for \d+ s/),
        });
        expect(await checkIdle(pool)).toMatchObject({ level: 'ok' });
      } finally {
        await admin.query('ROLLBACK');
      }
    },
    long,
  );

  test(
    'with an advisory lock held by an idle session gets a finding that names the session and how to end it',
    async () => {
      const pool = new pg.Pool({ connectionString: env.DATABASE_URL });
      onTestFinished(() => pool.end());
      const pid = (await admin.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
      expect(await checkLocks(pool, 0)).toMatchObject({ level: 'ok' });
      for (const [key, level] of [
        [72707374, 'warn'],
        [72707369, 'fail'],
      ] as const) {
        await admin.query(`SELECT pg_advisory_lock(${key})`);
        try {
          const message = expect.stringMatching(
            new RegExp(
              `Advisory lock ${key} is held by backend ${pid}.*idle.*pg_terminate_backend\\(${pid}\\)`,
            ),
          );
          expect(await checkLocks(pool, 0)).toMatchObject({ level, message });
          // A lock that has just been taken is not stuck.
          expect(await checkLocks(pool, 3_600)).toMatchObject({ level: 'ok' });
        } finally {
          await admin.query(`SELECT pg_advisory_unlock(${key})`);
        }
      }
    },
    long,
  );

  test(
    'with an invalid index or without a partition gets a warning',
    async () => {
      const { name } = partitionOf(Date.now(), 1);
      await admin.query(`ALTER TABLE security_log DETACH PARTITION ${name}`);
      await admin.query(`ALTER TABLE ${name} RENAME TO elsewhere`);
      await admin.query(
        `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'licenses_pkey'::regclass`,
      );
      const { warnings } = await examine(env);
      expect(warnings).toContain(`has no partition ${name}`);
      expect(warnings).toMatch(/invalid: .*licenses_pkey/);
    },
    long,
  );

  test(
    'with too few locks for its partitions gets a warning',
    async () => {
      expect((await examine(env)).fine).toContain('has room for the locks');
      await admin.query(`DO $$ BEGIN FOR day IN 1..120 LOOP
        EXECUTE format('CREATE TABLE security_log_test_%s PARTITION OF security_log FOR VALUES FROM (%L) TO (%L)', day,
          lpad(to_hex(day), 8, '0') || '-0000-0000-0000-000000000000',
          lpad(to_hex(day + 1), 8, '0') || '-0000-0000-0000-000000000000');
      END LOOP; END $$`);
      expect((await examine(env)).warnings).toMatch(
        /\d+ partitions.*set max_locks_per_transaction to at least \d+/,
      );
    },
    long,
  );

  test(
    'with another encoding fails',
    async () => {
      const name = `latchkey_test_ascii_${process.pid}`;
      await admin.query(
        `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
      );
      onTestFinished(async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)));
      const url = new URL(env.DATABASE_URL);
      url.pathname = `/${name}`;
      expect((await examine({ ...env, DATABASE_URL: url.href })).failures).toMatch(/encoding is SQL_ASCII/);
    },
    long,
  );

  test(
    'with too few connections for the workers gets a warning',
    async () => {
      const { rows } = await admin.query<{ most: number }>(
        `SELECT current_setting('max_connections')::int AS most`,
      );
      const redis = { REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
      const { warnings } = await examine({ ...env, ...redis, WORKERS: '64' });
      if ((rows[0]?.most ?? 0) < 192)
        expect(warnings).toContain('WORKERS=64 opens up to 192: raise max_connections');
      expect((await examine(env)).fine).toMatch(
        /The server allows \d+ connections, and an instance with WORKERS=1 opens up to 11$/m,
      );
    },
    long,
  );

  test('has as many connections outside the pool per process as the check assumes', async () => {
    const beside = async () => {
      const { rows } = await admin.query<{ name: string }>(
        `SELECT application_name AS name FROM pg_stat_activity
         WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
           AND application_name <> 'latchkey'`,
      );
      return rows;
    };
    await vi.waitFor(async () => expect(await beside()).toHaveLength(connectionsBesidePool), 20_000);
  });

  test(
    'that is empty gets a finding that says what creates its tables',
    async () => {
      const { url, drop } = await createServerDatabase();
      onTestFinished(drop);
      const { ok, fine } = await examine({ ...env, DATABASE_URL: url });
      expect(ok).toBe(true);
      expect(fine).toMatch(/The database is empty/);
    },
    long,
  );
});

describe.skipIf(!hasRedisServer)('Redis', () => {
  const withRedis = async (url: string) =>
    examine({ DATA_DIR: join(await freshDirectory(), 'new'), REDIS_URL: url });

  test(
    'that is healthy passes',
    async () => {
      const redis = await OwnRedis.start();
      const { ok, fine } = await withRedis(redis.url);
      expect(ok).toBe(true);
      expect(fine).toMatch(/redis: Redis \d+\.\d+.* at 127\.0\.0\.1/);
      expect(fine).toMatch(/redis clock: .* 0\.\d s/);
    },
    long,
  );

  test.each([
    [
      'a replica',
      async () => ['--replicaof', '127.0.0.1', String(await freePort())],
      /set REDIS_URL to the primary/,
    ],
    ['full', async () => ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'], /raise its maxmemory/],
    ['without its replicas', async () => ['--min-replicas-to-write', '1'], /start its replicas/],
  ] as const)(
    'that takes no writes (%s) fails, because sealed requests are refused',
    async (_why, options, advice) => {
      const redis = await OwnRedis.start(...(await options()));
      const { ok, failures } = await withRedis(redis.url);
      expect(ok).toBe(false);
      expect(failures).toMatch(/^redis: .*takes no writes.*every sealed request is refused/);
      expect(failures).toMatch(advice);
    },
    long,
  );

  test.each([
    ['allkeys-lru', '50mb', false],
    ['volatile-ttl', '50mb', false],
    ['noeviction', '50mb', true],
    ['allkeys-lru', '0', true],
  ])(
    'with maxmemory-policy %s and maxmemory %s: %s',
    async (policy, memory, fits) => {
      const redis = await OwnRedis.start('--maxmemory', memory, '--maxmemory-policy', policy);
      const { ok, failures } = await withRedis(redis.url);
      expect(ok).toBe(fits);
      if (!fits) expect(failures).toMatch(/^redis: .*evicted nonce.*noeviction/);
    },
    long,
  );

  test(
    'that is part of a cluster fails with the reason',
    async () => {
      const directory = await freshDirectory();
      const redis = await OwnRedis.start('--cluster-enabled', 'yes', '--dir', directory);
      const { ok, failures } = await withRedis(redis.url);
      expect(ok).toBe(false);
      expect(failures).toMatch(/^redis: .*is a part of a Redis Cluster/);
    },
    long,
  );

  test(
    'that is unreachable fails, and the finding does not contain its password',
    async () => {
      const { failures, all } = await withRedis(`redis://ada:opensesame@127.0.0.1:${await freePort()}`);
      expect(failures).toMatch(/^redis: Redis at 127\.0\.0\.1:\d+ cannot be used/);
      expect(all).not.toContain('opensesame');
    },
    long,
  );

  test(
    'that does not answer fails after a timeout',
    async () => {
      const redis = await OwnRedis.start();
      const relay = await startRelay(redis.url);
      onTestFinished(() => relay.close());
      relay.pause();
      expect((await withRedis(relay.url)).failures).toMatch(/^redis: /);
    },
    long,
  );
});

describe.skipIf(!hasRedisServer)('Redis with sentinels', () => {
  let sentinels: OwnSentinels;
  beforeAll(async () => {
    sentinels = await OwnSentinels.start();
  });
  afterAll(() => sentinels.close());
  const withRedis = async (url: string) =>
    examine({ DATA_DIR: join(await freshDirectory(), 'new'), REDIS_URL: url });

  test(
    'passes if all of them agree, and shows the master',
    async () => {
      const { ok, fine, warnings } = await withRedis(sentinels.url);
      expect(ok).toBe(true);
      const { port } = await sentinels.master();
      for (const sentinel of sentinels.sentinelPorts) {
        expect(fine).toContain(
          `The sentinel at 127.0.0.1:${sentinel} names 127.0.0.1:${port} as the master "primary"`,
        );
      }
      expect(fine).toMatch(new RegExp(`Redis \\d.* at 127\\.0\\.0\\.1:${port}`));
      expect(warnings).not.toMatch(/redis:/);
    },
    long,
  );

  test(
    'gets a warning for one that is gone, and a failure for a name that they do not know',
    async () => {
      const gone = await freePort();
      const { ok, warnings } = await withRedis(sentinels.url.replace('//', `//127.0.0.1:${gone},`));
      expect(ok).toBe(true);
      expect(warnings).toContain(`redis: The sentinel at 127.0.0.1:${gone} cannot be asked (ECONNREFUSED)`);
      const { failures, all } = await withRedis(
        `${sentinels.url.replace('//', '//:opensesame@').replace(/primary$/, 'another')}?sentinelPassword=`,
      );
      expect(failures).toMatch(/knows no master "another": correct the name/);
      expect(all).not.toContain('opensesame');
    },
    long,
  );

  test('fails if a sentinel cannot reach enough others, and is told of missing replicas and sentinels', async () => {
    const [one = 0] = sentinels.sentinelPorts;
    const others = [sentinels.sentinel(1), sentinels.sentinel(2)];
    for (const other of others) other.kill('SIGSTOP');
    onTestFinished(() => {
      for (const other of others) other.kill('SIGCONT');
    });
    const url = `redis+sentinel://127.0.0.1:${one}/primary`;
    await vi.waitFor(
      async () => expect((await withRedis(url)).failures).toMatch(/does not reach enough other sentinels/),
      long,
    );
    // On its own, with a master that has no replica.
    const master = await OwnRedis.start();
    const call = (...words: string[]) => ask(one, (client) => client.call('SENTINEL', ...words));
    await call('MONITOR', 'single', '127.0.0.1', String(master.port), '1');
    const { warnings } = await withRedis(url.replace('primary', 'single'));
    expect(warnings).toMatch(/Only 1 of at least 3 sentinels watch the master/);
    expect(warnings).toMatch(/The master has no replica/);
  }, 120_000);
});

describe.skipIf(!hasRedisServer)('a Redis Cluster', () => {
  test('passes, with who stores the keys; fails if no master does; and is told of a missing replica', async () => {
    const cluster = await OwnCluster.start();
    onTestFinished(() => cluster.close());
    const withRedis = async () =>
      examine({ DATA_DIR: join(await freshDirectory(), 'new'), REDIS_URL: cluster.url });
    const healthy = await withRedis();
    expect(healthy.ok).toBe(true);
    expect(healthy.warnings).not.toMatch(/redis:/);
    const [, port, slot] =
      /redis: 127\.0\.0\.1:(\d+) owns slot (\d+), which all keys/.exec(healthy.fine) ??
      expect.fail(healthy.fine);
    const owner = await cluster.owner(Number(slot));
    expect(Number(port)).toBe(owner.port);
    for (const server of cluster.servers) {
      const isReplica = async () =>
        ask(server.port, async (client) =>
          (await client.info('replication')).includes(`master_port:${port}`),
        );
      if (await isReplica()) await ask(server.port, (client) => client.call('CLUSTER', 'RESET', 'HARD'));
    }
    await vi.waitFor(
      async () =>
        expect((await withRedis()).warnings).toMatch(new RegExp(`127.0.0.1:${port} has no replica`)),
      long,
    );
    await owner.kill();
    await vi.waitFor(
      async () => expect((await withRedis()).failures).toMatch(/reports that the cluster is down/),
      long,
    );
  }, 120_000);
});
