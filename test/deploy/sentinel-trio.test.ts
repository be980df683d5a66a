import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort, hasRedisServer } from '../ephemeral/support.ts';
import { adaptShipped } from '../setup/shipped-file.ts';

const patient = { timeout: 60_000, interval: 200 };
const password = 'replace-this-password';

/** Starts a Redis or a Sentinel with a configuration, which a Sentinel rewrites. */
function start(configuration: string, ...words: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-trio-'));
  const file = join(directory, 'redis.conf');
  writeFileSync(file, configuration.replaceAll('/var/lib/redis', directory));
  const child = spawn('redis-server', [file, ...words], { stdio: 'ignore' });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  });
  return { kill };
}

function clientOf(port: number): Redis {
  const client = new Redis({ port, password, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

test.skipIf(!hasRedisServer)(
  'the trio promotes a replica when the primary is killed',
  async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    const [primaryPort = 0] = ports;
    const servers = ports.map((port) =>
      start(
        adaptShipped('redis/redis.conf', [
          ['bind 192.0.2.11 127.0.0.1', 'bind 127.0.0.1'],
          ['port 6379', `port ${port}`],
          ['#replicaof 192.0.2.11 6379', port === primaryPort ? '' : `replicaof 127.0.0.1 ${primaryPort}`],
        ]),
      ),
    );
    const clients = ports.map(clientOf);
    await vi.waitFor(
      async () => expect(await clients[0]?.info('replication')).toContain('connected_slaves:2'),
      patient,
    );
    // A primary writes only while a replica follows it.
    await vi.waitFor(async () => expect(await clients[0]?.set('written', 'before')).toBe('OK'), patient);
    expect(await clients[0]?.config('GET', 'min-replicas-to-write')).toEqual(['min-replicas-to-write', '1']);

    const sentinels: Redis[] = [];
    for (const port of [await freePort(), await freePort(), await freePort()]) {
      const configuration = adaptShipped('redis/sentinel.conf', [
        ['bind 192.0.2.11 127.0.0.1', 'bind 127.0.0.1'],
        ['port 26379', `port ${port}`],
        ['latchkey 192.0.2.11 6379', `latchkey 127.0.0.1 ${primaryPort}`],
      ]);
      start(configuration, '--sentinel');
      sentinels.push(clientOf(port));
    }
    // Each knows the two others, with whom it agrees, and both replicas.
    await vi.waitFor(async () => {
      for (const sentinel of sentinels) {
        expect(await sentinel.call('SENTINEL', 'CKQUORUM', 'latchkey')).toMatch(/^OK 3 usable/);
        expect(await sentinel.call('SENTINEL', 'REPLICAS', 'latchkey')).toHaveLength(2);
      }
    }, patient);

    await servers[0]?.kill();
    let promoted = primaryPort;
    await vi.waitFor(async () => {
      for (const sentinel of sentinels) {
        const address = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'latchkey');
        expect(address).toEqual(['127.0.0.1', expect.any(String)]);
        promoted = Number(String(address).split(',')[1]);
        expect(promoted).not.toBe(primaryPort);
      }
    }, patient);
    const successor = clients[ports.indexOf(promoted)];
    await vi.waitFor(async () => expect(await successor?.set('written', 'after')).toBe('OK'), patient);
    // A full Redis refuses to forget nonces; a promoted one never changes its id for want of a replica.
    expect(await successor?.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await successor?.config('GET', 'repl-backlog-ttl')).toEqual(['repl-backlog-ttl', '0']);
  },
  240_000,
);
