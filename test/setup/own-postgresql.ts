import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../ephemeral/support.ts';
import { answers } from './answers.ts';

/** The folder of PostgreSQL's programs: Debian has one per version. Null if there is none. */
export function findPostgresql(): string | null {
  try {
    const versions = readdirSync('/usr/lib/postgresql').sort((one, other) => Number(other) - Number(one));
    if (versions[0] !== undefined) return join('/usr/lib/postgresql', versions[0], 'bin');
  } catch {
    // Not a Debian-like system.
  }
  try {
    return execFileSync('pg_config', ['--bindir'], { stdio: 'pipe' }).toString().trim();
  } catch {
    return null;
  }
}

/** The user for a server that refuses to run as root, such as PostgreSQL. */
export function unprivileged(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync('id', [option, 'postgres']).toString());
  return { uid: id('-u'), gid: id('-g') };
}

/** The test's own durable PostgreSQL server, which can be stopped, killed, suspended and started again. */
export class OwnPostgresql {
  readonly port: number;
  readonly #programs: string;
  readonly #directory: string;
  readonly #user = unprivileged();
  readonly #settings: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(programs: string, port: number, parent: string, settings: readonly string[]) {
    this.#settings = settings;
    this.port = port;
    this.#programs = programs;
    this.#directory = mkdtempSync(join(parent, 'latchkey-own-postgresql-'));
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(this.#directory, uid, gid);
  }

  /**
   * @param parent the folder for its data, such as a small disk's
   * @param settings additional settings, such as `ssl=on`
   */
  static async start(
    programs: string,
    parent = tmpdir(),
    settings: readonly string[] = [],
  ): Promise<OwnPostgresql> {
    const server = new OwnPostgresql(programs, await freePort(), parent, settings);
    const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(programs, 'initdb'), ['-D', server.#data, ...options], {
      cwd: server.#directory,
      stdio: 'pipe',
      ...server.#user,
    });
    await server.start();
    return server;
  }

  /**
   * Starts a standby of this server, which replays what this one writes. Remove it before its primary.
   * @param from how the standby connects to this server
   * @param settings additional settings
   */
  async startStandby(from = this.url, settings: readonly string[] = []): Promise<OwnPostgresql> {
    const standby = new OwnPostgresql(this.#programs, await freePort(), tmpdir(), settings);
    const options = [
      '-D',
      standby.#data,
      '-d',
      from,
      '--write-recovery-conf',
      '--checkpoint=fast',
      '--no-sync',
    ];
    execFileSync(join(this.#programs, 'pg_basebackup'), options, {
      cwd: standby.#directory,
      stdio: 'pipe',
      ...standby.#user,
    });
    await standby.start();
    return standby;
  }

  /** Runs statements of an administrator, each on its own. */
  async administer(...statements: readonly string[]): Promise<void> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  get url(): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/postgres`;
  }

  get #data(): string {
    return join(this.#directory, 'data');
  }

  /** Starts it and waits until it accepts connections. */
  async start(): Promise<void> {
    const own = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=on'];
    const settings = [...own, ...this.#settings];
    const child = spawn(
      join(this.#programs, 'postgres'),
      ['-D', this.#data, '-p', String(this.port), ...settings.flatMap((setting) => ['-c', setting])],
      { cwd: this.#directory, stdio: ['ignore', 'ignore', 'pipe'], ...this.#user },
    );
    this.#process = child;
    let output = '';
    child.stderr.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4_000)));
    const deadline = performance.now() + 30_000;
    while (!(await this.answers())) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`postgres: ${output}`);
      await sleep(20);
    }
  }

  answers(): Promise<boolean> {
    return answers({ connectionString: this.url, connectionTimeoutMillis: 2_000 });
  }

  /** Shuts it down: connections are cut and committed data is written. */
  async stop(): Promise<void> {
    await this.#end((postmaster) => process.kill(postmaster, 'SIGINT'));
  }

  /** Kills all of its processes at once, like a power loss. */
  async crash(): Promise<void> {
    await this.#end((postmaster) => {
      const workers = childrenOf(postmaster);
      for (const pid of [postmaster, ...workers]) signal(pid, 'SIGKILL');
    });
  }

  async #end(how: (postmaster: number) => void): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    how(child.pid);
    await ended;
  }

  /** Suspends all of its processes: connections stay open, the system accepts new ones, and nothing answers. */
  pause(): void {
    const postmaster = this.#process?.pid;
    if (postmaster === undefined) return;
    for (const pid of [postmaster, ...childrenOf(postmaster)]) signal(pid, 'SIGSTOP');
  }

  resume(): void {
    const postmaster = this.#process?.pid;
    if (postmaster === undefined) return;
    for (const pid of [...childrenOf(postmaster), postmaster]) signal(pid, 'SIGCONT');
  }

  /** Stops it and removes its data. */
  async remove(): Promise<void> {
    this.resume();
    await this.crash();
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** Ignores processes that have ended since they were listed. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
