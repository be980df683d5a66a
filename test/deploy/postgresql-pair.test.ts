import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../ephemeral/support.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { startOwnProxy } from '../setup/own-proxy.ts';
import { root } from '../setup/process.ts';
import { hasHaproxy } from '../setup/proxy-programs.ts';
import { adaptShipped } from '../setup/shipped-file.ts';

const programs = findPostgresql();
const patient = { timeout: 60_000, interval: 200 };

/** The shipped configuration, and the tests' administrator. */
function writeConfiguration(): readonly string[] {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-pair-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o755);
  const settings = join(directory, 'latchkey.conf');
  // The tests set the address on the command line.
  writeFileSync(settings, adaptShipped('postgresql/latchkey.conf', [['192.0.2.11, ', '']]));
  const rules = adaptShipped('postgresql/pg_hba.conf', [['192.0.2.0/24', '127.0.0.1/32']]);
  writeFileSync(join(directory, 'pg_hba.conf'), `${rules}host all postgres 127.0.0.1/32 trust\n`);
  return [`config_file=${settings}`, `hba_file=${join(directory, 'pg_hba.conf')}`];
}

function runShipped(file: string, server: OwnPostgresql, ...variables: string[]): void {
  const words = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', ...variables.flatMap((each) => ['-v', each])];
  execFileSync('psql', [...words, '-f', join(root, 'deploy/postgresql', file), server.url], {
    stdio: 'pipe',
  });
}

test.skipIf(programs === null || !hasHaproxy)(
  'HAProxy leads to the primary of the pair: after a promotion to the new one, and to it alone',
  async () => {
    const settings = writeConfiguration();
    const first = await OwnPostgresql.start(programs ?? '', tmpdir(), settings);
    onTestFinished(() => first.remove());
    runShipped('roles.sql', first, 'password=secret', 'replica_password=another');
    const from = `postgresql://latchkey_replica:another@127.0.0.1:${first.port}/postgres?application_name=latchkey_b`;
    const second = await first.startStandby(from, settings);
    onTestFinished(() => second.remove());
    const unusedPort = await freePort();
    const proxy = await startOwnProxy('HAProxy', {
      instances: [unusedPort, unusedPort, unusedPort],
      postgresql: [first.port, second.port],
    });
    onTestFinished(() => proxy.remove());

    const ask = async (port: number, statement: string, user = 'latchkey:secret', database = 'latchkey') => {
      const client = new pg.Client({
        connectionString: `postgresql://${user}@127.0.0.1:${port}/${database}`,
        connectionTimeoutMillis: 5_000,
        query_timeout: 5_000,
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        return (await client.query<Record<string, unknown>>(statement)).rows;
      } finally {
        await client.end().catch(() => undefined);
      }
    };
    const throughProxy = (statement: string) => ask(proxy.postgresqlPort, statement);
    const administer = (server: OwnPostgresql, statement: string) =>
      ask(server.port, statement, 'postgres', 'postgres');

    await vi.waitFor(() => throughProxy('CREATE TABLE written (value int)'), patient);
    for (let value = 0; value < 20; value += 1) await throughProxy(`INSERT INTO written VALUES (${value})`);
    expect(await administer(first, 'SELECT application_name, sync_state FROM pg_stat_replication')).toEqual([
      { application_name: 'latchkey_b', sync_state: 'quorum' },
    ]);

    // The check of the standby ends with its answer, and not when its time is up.
    const stat = () => execFileSync('sh', ['-c', `echo show stat | ${proxy.adminCommand}`]).toString();
    await vi.waitFor(() => expect(stat()).toMatch(/^postgresql,b,.*,DOWN,/m), patient);
    expect(stat()).toMatch(/^postgresql,b,.*,L7RSP,/m);

    await first.crash();
    runShipped('promote.sql', second);
    await vi.waitFor(() => throughProxy('INSERT INTO written VALUES (20)'), patient);
    // What was acknowledged before, and one or more of the last, whose answer may have been lost.
    expect(await throughProxy('SELECT DISTINCT value FROM written')).toHaveLength(21);

    // A former primary that was not rebuilt as a standby: HAProxy takes it for a primary.
    await first.start();
    const portOfPrimary = 'SELECT inet_server_port() AS port';
    await vi.waitFor(() => expect(stat()).toMatch(/^postgresql,a,.*,UP,/m), patient);
    for (let turn = 0; turn < 5; turn += 1)
      expect(await throughProxy(portOfPrimary)).toEqual([{ port: second.port }]);
  },
  240_000,
);
