import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { createServerDatabase, ensureTemplate, serverUrl } from '../setup/database.ts';
import { type CommandRun, runCommand } from './run-command.ts';

/** Registers a cleanup; after the test by default. */
export type After = (undo: () => Promise<void>) => void;

/** A new directory that only this test uses. */
export async function freshDirectory(after: After = onTestFinished): Promise<string> {
  await ensureTemplate();
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-command-'));
  after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The URL of a new, empty database on the server. */
export async function freshServerDatabase(after: After = onTestFinished): Promise<string> {
  const { url, drop } = await createServerDatabase();
  after(drop);
  return url;
}

/** Runs a command and expects it to succeed. */
export async function succeed(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandRun> {
  const run = await runCommand(words, env);
  expect(run.code, run.stderr).toBe(0);
  return run;
}

/** The generated master secret in a data directory. */
export const secretIn = async (directory: string): Promise<string> =>
  (await readFile(join(directory, 'service-secret'), 'utf8')).trim();

/** Runs a query in a database on the server. */
export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until a restore inserts licenses. It looks from another database, as a restore requires its own to be unused. */
export async function untilRestoring(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  const inserting = `
    SELECT FROM pg_stat_activity WHERE datname = '${database}' AND query LIKE 'INSERT INTO licenses%'`;
  await expect
    .poll(() => query(serverUrl ?? '', inserting), { timeout: 60_000, interval: 5 })
    .toHaveLength(1);
}

/**
 * An account, and as many licenses and log entries as one wants, in SQL: with values that are easily lost on the way.
 */
export const seed = (rows: number): string => `
  INSERT INTO developers (id, email, email_normalized, name, password_hash)
  VALUES ('01a1f9ca-93fa-7499-96a1-742319220050', 'a@b.c', 'a@b.c', E'"A\\\\"\\n\\t\\u2028\\U0001F511', '$argon2id$x');
  INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted, response_messages)
  VALUES ('01a1f9ca-9460-72c7-be51-8276f9723da9', '01a1f9ca-93fa-7499-96a1-742319220050', 'App',
    decode(repeat('00', 32), 'hex'), decode(repeat('ff', 60), 'hex'),
    '{"OK": "a\\\\nb", "number": 12345678901234567890.10}');
  INSERT INTO api_keys (id, developer_id, name, key_hash, key_prefix, last_used_at)
  VALUES ('01a1f9ca-9460-72c7-be51-8276f9723da0', '01a1f9ca-93fa-7499-96a1-742319220050', 'Key', sha256('key'), 'x', 'infinity');
  INSERT INTO licenses (id, application_id, key_hash, key_prefix, status, activated_at, expires_at)
  SELECT ('01a1f9ca-9544-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, '01a1f9ca-9460-72c7-be51-8276f9723da9',
    sha256(n::text::bytea), 'ABCDE-', 'active', now(), now() + n * interval '1 hour'
  FROM generate_series(1, ${rows}) AS n;
  INSERT INTO security_log (id, developer_id, application_id, event, code, metadata)
  SELECT (lpad(to_hex((extract(epoch FROM now() - n * interval '1 minute') * 1000)::bigint), 12, '0')
      || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    '01a1f9ca-93fa-7499-96a1-742319220050', '01a1f9ca-9460-72c7-be51-8276f9723da9', 'license_validated', 'OK', '{"n": 1.50}'
  FROM generate_series(1, ${rows}) AS n`;
