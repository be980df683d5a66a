import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerDatabase, serverTemplate, serverUrl } from '../setup/database.ts';
import { runCommand } from './run-command.ts';

/** Commands on a database that a later version has migrated. */

const later = '29990101000000_later';

describe.skipIf(serverUrl === null)('on a database with an additive migration of a later version,', () => {
  let env: Readonly<Record<string, string>>;
  let drop: () => Promise<void>;
  let admin: pg.Client;
  beforeAll(async () => {
    const database = await createServerDatabase(await serverTemplate());
    drop = database.drop;
    env = { DATABASE_URL: database.url, SERVICE_SECRET: randomBytes(32).toString('base64') };
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('later', 'x', $1, now())`,
      [later],
    );
  });
  afterAll(async () => {
    await admin.end();
    await drop();
  });

  test('doctor warns and migrate finds nothing to do', async () => {
    const { stdout } = await runCommand(['doctor'], env);
    expect(stdout).toMatch(new RegExp(`WARN .*does not know the migrations ${later}`));
    const migrate = await runCommand(['migrate'], env);
    expect(migrate.code).toBe(0);
    expect(migrate.stdout).toContain('Nothing to do');
    expect(migrate.stderr).toContain(later);
  });

  test.each([
    [['backup', join(tmpdir(), `${randomBytes(8).toString('hex')}.backup`)], 'make the backup'],
    [['rotate-secret'], 'rotate the secret'],
  ])('%j is refused, because it has to know all of the data', async (words, task) => {
    const run = await runCommand(words, env);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(new RegExp(`"${later}" of a later version.*${task} with that version`));
  });

  test('doctor fails once that version has contracted what this one needs', async () => {
    await admin.query(`UPDATE _prisma_migrations SET logs = $1 WHERE id = 'later'`, [
      `-- contract: ${later}`,
    ]);
    const { code, stdout } = await runCommand(['doctor'], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`FAIL .*"${later}".*requires a version that knows the migration "${later}"`),
    );
  });
});
