import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/db/database.ts';
import { noLimits } from '../api/support.ts';
import { freshDirectory, succeed } from '../cli/places.ts';
import { runCommand } from '../cli/run-command.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { serverUrl, silent } from '../setup/database.ts';
import { createOddDatabase, type OddDatabase } from '../setup/odd-database.ts';
import { OwnPgbouncer } from '../setup/own-pgbouncer.ts';
import { hasPgbouncer } from '../setup/pgbouncer-program.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

// Settings that an administrator has changed for the database or the role.

if (process.env.CI !== undefined && serverUrl === null)
  throw new Error('TEST_DATABASE_URL has to be set in CI');

const long = 480_000;
const minute = 60_000;
const applicationAnswer = z.object({ application: z.object({ name: z.string(), createdAt: z.string() }) });
const name = 'Größe "\\" 🔑';

async function start(env: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await startTestServer({ database: 'server', env: { ...noLimits, ...env } });
  return server;
}

/** Exercises the service on a database, also after a restart, then backs the database up and restores it. */
async function serveAsEver({ env }: OddDatabase, other: OddDatabase): Promise<void> {
  const first = await start(env);
  const world = await createWorld(first);
  const application = await world.createApplication({ name });
  const endless = await application.mintOne();
  const short = await application.mintOne({ durationSeconds: 60 });
  // Many licenses without optional members in one statement: NULLs in arrays.
  await application.mint({ amount: 50 });
  const session = await openSession(first, application);
  for (const license of [endless, short])
    expect(await session.ask(validatePath, license)).toMatchObject({ code: 'OK' });
  await first.close();

  const serves = async (given: Readonly<Record<string, string>>): Promise<void> => {
    const server = await start(given);
    try {
      server.clock.step(120);
      const again = await openSession(server, application);
      expect(await again.ask(validatePath, short)).toMatchObject({ code: 'EXPIRED' });
      expect(await again.ask(validatePath, endless)).toMatchObject({ code: 'OK' });
      const login = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
      expect(login.status, JSON.stringify(login.body)).toBe(200);
      const client = new ApiClient(server.baseUrl).with({ cookie: cookieOf(login) ?? '' });
      const { body } = await client.get(`/api/v1/apps/${application.id}`);
      const found = applicationAnswer.parse(body).application;
      expect(found.name).toBe(name);
      expect(Math.abs(Date.parse(found.createdAt) - Date.now())).toBeLessThan(5 * minute);
      const lists = await client.get(`/api/v1/apps/${application.id}/licenses?q=${short.keyPrefix}`);
      expect(lists.status, JSON.stringify(lists.body)).toBe(200);
      expect(JSON.stringify(lists.body)).toContain(short.id);
    } finally {
      await server.close();
    }
  };
  await serves(env);
  const doctor = await runCommand(['doctor'], env);
  expect(doctor.code, doctor.stdout).toBe(0);
  expect(doctor.stdout).toMatch(/All \d+ migrations are applied/);

  const file = join(await freshDirectory(), 'a.backup');
  await succeed(['backup', file], env);
  const restored = { ...env, DATABASE_URL: other.env.DATABASE_URL };
  await succeed(['restore', file], restored);
  await serves(restored);
}

describe.skipIf(serverUrl === null)('the service works as usual if the database or the role has', () => {
  test('another DateStyle than ISO', { tags: 'slow', timeout: long }, async () => {
    const one = await createOddDatabase({
      ofDatabase: { DateStyle: 'SQL, DMY', TimeZone: 'America/St_Johns' },
    });
    await serveAsEver(one, await createOddDatabase({ ofRole: { DateStyle: 'German' } }));
    const { stdout } = await runCommand(['doctor'], one.env);
    expect(stdout).toMatch(
      /ok .*Set on the database or the role, and overridden by the service.*DateStyle=SQL, DMY; TimeZone=America/,
    );
  });

  test(
    'settings that change the meaning of SQL, and timeouts that are too short for maintenance',
    async () => {
      const ofRole = {
        array_nulls: 'off',
        bytea_output: 'escape',
        client_encoding: 'LATIN1',
        default_transaction_isolation: 'serializable',
        extra_float_digits: '-15',
        gin_fuzzy_search_limit: '1',
        IntervalStyle: 'sql_standard',
        quote_all_identifiers: 'on',
        row_security: 'off',
        standard_conforming_strings: 'off',
        idle_in_transaction_session_timeout: '100ms',
        idle_session_timeout: '1s',
        lock_timeout: '1ms',
        // Long enough for a migration, but too short for maintenance on a busy machine.
        statement_timeout: '250ms',
      };
      await serveAsEver(await createOddDatabase({ ofRole }), await createOddDatabase({ ofRole }));
    },
    long,
  );

  test('a schema with the name of the role, first in its search_path', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const prepare = 'CREATE SCHEMA AUTHORIZATION $role';
    const [one, other] = [await createOddDatabase({ prepare }), await createOddDatabase({ prepare })];
    await serveAsEver(one, other);
    expect(await schemasOf(one)).toEqual(['public']);
  });

  test('a search_path without the schema, or an empty one', { tags: 'slow', timeout: long }, async () => {
    const at = (search_path: string) => ({
      prepare: 'CREATE SCHEMA elsewhere AUTHORIZATION $role',
      ofRole: { search_path },
    });
    const one = await createOddDatabase(at('elsewhere, public'));
    const other = await createOddDatabase(at("''"));
    await serveAsEver(one, other);
    for (const each of [one, other]) expect(await schemasOf(each)).toEqual(['public']);
  });
});

describe.skipIf(serverUrl === null || !hasPgbouncer)(
  'behind PgBouncer in transaction mode',
  { tags: 'slow' },
  () => {
    /** The same database through the test's own PgBouncer. */
    async function behindPgbouncer(database: OddDatabase): Promise<OddDatabase> {
      const pgbouncer = await OwnPgbouncer.start(database.url);
      onTestFinished(() => pgbouncer.remove());
      const url = pgbouncer.urlOf(database.url);
      return { ...database, url, env: { ...database.env, DATABASE_URL: url } };
    }

    test(
      'the service works as usual if the database or the role has settings that PgBouncer keeps for each client',
      async () => {
        const ofDatabase = {
          DateStyle: 'SQL, DMY',
          TimeZone: 'America/St_Johns',
          standard_conforming_strings: 'off',
        };
        const one = await createOddDatabase({ ofDatabase, prepare: 'CREATE SCHEMA elsewhere' });
        await serveAsEver(await behindPgbouncer(one), await createOddDatabase());
      },
      long,
    );

    test(
      'a start and doctor refuse wrong settings that a session cannot change, with the statements that correct them',
      async () => {
        const odd = await createOddDatabase({
          prepare: 'CREATE SCHEMA AUTHORIZATION $role',
          ofDatabase: { array_nulls: 'off' },
          ofRole: { default_transaction_isolation: 'serializable', gin_fuzzy_search_limit: '1' },
        });
        const pooled = await behindPgbouncer(odd);
        const open = async (): Promise<string | null> => {
          try {
            await (await openDatabase({ kind: 'server', url: pooled.url }, { log: silent })).close();
            return null;
          } catch (error) {
            return String(error);
          }
        };
        const failure = await open();
        const { code, stdout } = await runCommand(['doctor'], pooled.env);
        expect(code).toBe(1);
        const altered = `ALTER ROLE ${odd.role} IN DATABASE ${odd.name} SET`;
        const statements = [
          `${altered} array_nulls TO 'on'`,
          `${altered} default_transaction_isolation TO 'read committed'`,
          `${altered} gin_fuzzy_search_limit TO '0'`,
          `${altered} search_path TO public`,
        ];
        for (const statement of statements) {
          expect(failure).toContain(statement);
          expect(stdout).toContain(statement);
          await odd.run(statement);
        }
        await odd.disconnect();
        await serveAsEver(pooled, await createOddDatabase());
      },
      long,
    );
  },
);

/** The schemas with the service's tables. */
const schemasOf = async ({ run }: OddDatabase): Promise<string[]> =>
  (
    await run<{ schema: string }>(`SELECT DISTINCT schemaname AS schema FROM pg_tables WHERE tablename IN
      ('licenses', 'security_log', '_prisma_migrations') ORDER BY 1`)
  ).map(({ schema }) => schema);
