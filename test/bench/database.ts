import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Undo } from './undo.ts';

/** A database of the run's own, empty at first. */
export interface BenchDatabase {
  readonly kind: 'embedded' | 'server';
  /** How the service is told of it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Makes the embedded database's directory, or a database on the server of this URL; `undo` removes it. */
export function createDatabase(serverUrl: string | null, undo: Undo): Promise<BenchDatabase> {
  return serverUrl === null ? createDirectory(undo) : createOnServer(serverUrl, undo);
}

async function createDirectory(undo: Undo): Promise<BenchDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  undo.add(() => rm(directory, { recursive: true, force: true }));
  return { kind: 'embedded', env: { DATA_DIR: directory } };
}

async function createOnServer(serverUrl: string, undo: Undo): Promise<BenchDatabase> {
  const name = `latchkey_bench_${randomBytes(6).toString('hex')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  undo.add(() => administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  await administer(serverUrl, `CREATE DATABASE ${name}`);
  const secret = randomBytes(32).toString('base64');
  return { kind: 'server', env: { DATABASE_URL: url.href, SERVICE_SECRET: secret } };
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
