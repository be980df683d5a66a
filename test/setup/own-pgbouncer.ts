import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../ephemeral/support.ts';
import { answers } from './answers.ts';
import { unprivileged } from './own-postgresql.ts';
import { pgbouncerEnv } from './pgbouncer-program.ts';

/** The test's own PgBouncer in transaction mode, in front of a PostgreSQL server that trusts its users. */
export class OwnPgbouncer {
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #directory: string;

  private constructor(port: number, process: ChildProcess, directory: string) {
    this.port = port;
    this.#process = process;
    this.#directory = directory;
  }

  /** @param behind the URL of any database on the server behind it */
  static async start(behind: string): Promise<OwnPgbouncer> {
    const { hostname, port: serverPort, username } = new URL(behind);
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'latchkey-own-pgbouncer-'));
    const user = unprivileged();
    if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid);
    writeFileSync(join(directory, 'users'), `"${username}" ""\n`);
    writeFileSync(
      join(directory, 'pgbouncer.ini'),
      `[databases]
* = host=${hostname} port=${serverPort === '' ? 5432 : serverPort}
[pgbouncer]
pool_mode = transaction
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users')}
admin_users = ${username}
max_client_conn = 500
default_pool_size = 20
`,
    );
    const child = spawn('pgbouncer', [join(directory, 'pgbouncer.ini')], {
      cwd: directory,
      env: pgbouncerEnv,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...user,
    });
    let output = '';
    child.stderr.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4_000)));
    const pgbouncer = new OwnPgbouncer(port, child, directory);
    const deadline = performance.now() + 20_000;
    while (!(await pgbouncer.#answers(username))) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`pgbouncer: ${output}`);
      await sleep(20);
    }
    return pgbouncer;
  }

  /** The URL of the same database through the pooler. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  #answers(user: string): Promise<boolean> {
    return answers({ host: '127.0.0.1', port: this.port, user, database: 'pgbouncer' });
  }

  /** Kills it and removes its files. */
  async remove(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
