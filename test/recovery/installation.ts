import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { noLimits } from '../api/support.ts';
import { silent } from '../setup/database.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { root } from '../setup/process.ts';

/** Installations to kill without warning, as by the kernel's OOM killer or a power loss. */
export type Victim = 'service' | 'database' | 'both';

/** A test's own database, which outlives its service. */
export interface Installation {
  /** The environment of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** What can be killed. An embedded database dies with its service. */
  readonly victims: readonly Victim[];
  killDatabase(): Promise<void>;
  startDatabase(): Promise<void>;
  /** Starts a database server that has ended. */
  reviveDatabase(): Promise<void>;
  /** Reads the database while no service uses it. */
  read<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  remove(): Promise<void>;
}

export type Query = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export type InstallationKind = 'embedded' | 'server';

const programs = findPostgresql();
export const installationKinds: readonly InstallationKind[] =
  programs === null ? ['embedded'] : ['embedded', 'server'];
if (programs === null) {
  const missing = 'PostgreSQL has to be installed to kill it';
  if (process.env.CI !== undefined) throw new Error(missing);
  process.stderr.write(`Skipped: recovery on a PostgreSQL server (${missing}).\n`);
}

/** @param parent the folder for the database files, such as a small disk's */
export const install = (kind: InstallationKind, parent = tmpdir()): Promise<Installation> =>
  kind === 'embedded' ? installEmbedded(parent) : installOnServer(programs ?? '', parent);

async function installEmbedded(parent: string): Promise<Installation> {
  const directory = await mkdtemp(join(parent, 'latchkey-recovery-'));
  return {
    env: { DATA_DIR: directory, TRUST_PROXY: '1', ...noLimits },
    victims: ['service'],
    killDatabase: async () => undefined,
    startDatabase: async () => undefined,
    reviveDatabase: async () => undefined,
    read: (work) => reading({ kind: 'embedded', directory }, work),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

async function installOnServer(folder: string, parent: string): Promise<Installation> {
  const postgresql = await OwnPostgresql.start(folder, parent);
  const { url } = postgresql;
  const SERVICE_SECRET = randomBytes(32).toString('base64');
  return {
    env: { DATABASE_URL: url, SERVICE_SECRET, TRUST_PROXY: '1', ...noLimits },
    victims: ['service', 'database', 'both'],
    killDatabase: () => postgresql.crash(),
    startDatabase: () => postgresql.start(),
    reviveDatabase: async () => {
      if (!(await postgresql.answers())) await postgresql.start();
    },
    read: (work) => reading({ kind: 'server', url }, work),
    remove: () => postgresql.remove(),
  };
}

async function reading<Result>(
  address: Parameters<typeof openDatabase>[0],
  work: (query: Query) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(address, { log: silent });
  try {
    return await work(async (text, values = []) => (await database.pool.query(text, [...values])).rows);
  } finally {
    await database.close();
  }
}

/** Starts the built service and kills it early, while it may still be opening or repairing its database. */
export async function killWhileStarting(
  env: Readonly<Record<string, string>>,
  milliseconds: number,
): Promise<void> {
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await sleep(milliseconds);
  child.kill('SIGKILL');
  await ended;
}
