import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { vi } from 'vitest';
import { z } from 'zod';
import { freePort, killRedis, OwnRedis, spawnRedis } from '../ephemeral/support.ts';

const patient = { timeout: 60_000, interval: 50 };
/** How long a master must be silent before others replace it, in milliseconds. */
export const detectionMilliseconds = 1_000;

/** Asks a server something, on a separate connection. */
export async function ask<Answer>(
  port: number,
  question: (client: Redis) => Promise<Answer>,
  options: RedisOptions = {},
): Promise<Answer> {
  const client = new Redis({ port, host: '127.0.0.1', enableReadyCheck: false, ...options });
  client.on('error', () => {});
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}

/**
 * Cuts a master off from its replicas, which keep what they have: it demands a password that they lack. Connections that are
 * open stay usable, except for theirs.
 */
export const cutReplication = (master: OwnRedis, options: RedisOptions = {}): Promise<void> =>
  ask(
    master.port,
    async (client) => {
      await client.config('SET', 'requirepass', 'unknown to the replicas');
      await client.call('CLIENT', 'KILL', 'TYPE', 'replica');
      await vi.waitFor(async () => {
        const info = await client.info('replication');
        if (/state=online/.test(info)) throw new Error(info);
      }, patient);
    },
    options,
  );

export interface SentinelOptions {
  /** Of every server, by its port. */
  readonly options?: (port: number) => readonly string[];
  /** Lines of the sentinels' configuration, by their port. */
  readonly lines?: (port: number) => readonly string[];
  /** How the test itself connects. */
  readonly client?: RedisOptions;
  readonly sentinelClient?: RedisOptions;
}

/** A master with two replicas, and three sentinels that replace it: real servers, on free ports. */
export class OwnSentinels {
  static readonly masterName = 'primary';
  readonly #servers = new Map<number, OwnRedis>();
  readonly #sentinels = new Map<number, ChildProcess>();
  readonly #directory = mkdtempSync(join(tmpdir(), 'latchkey-sentinels-'));
  readonly #options: SentinelOptions;

  private constructor(options: SentinelOptions) {
    this.#options = options;
  }

  static async start(options: SentinelOptions = {}): Promise<OwnSentinels> {
    const own = new OwnSentinels(options);
    try {
      await own.#start();
    } catch (error) {
      await own.close();
      throw error;
    }
    return own;
  }

  async #start(): Promise<void> {
    const { lines = () => [] } = this.#options;
    const master = await this.#startServer();
    for (let count = 0; count < 2; count += 1) {
      await this.#startServer('--replicaof', '127.0.0.1', String(master));
    }
    for (let count = 0; count < 3; count += 1) {
      const port = await freePort();
      const file = join(this.#directory, `sentinel-${port}.conf`);
      const name = OwnSentinels.masterName;
      const settings = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${this.#directory}`,
        `sentinel monitor ${name} 127.0.0.1 ${master} 2`,
        `sentinel down-after-milliseconds ${name} ${detectionMilliseconds}`,
        // Half the time after which another attempt follows one that failed.
        `sentinel failover-timeout ${name} 5000`,
        ...lines(port),
      ];
      writeFileSync(file, `${settings.join('\n')}\n`);
      this.#sentinels.set(port, await spawnRedis([file, '--sentinel'], 'Sentinel ID is'));
    }
    await this.untilComplete();
  }

  async #startServer(...more: string[]): Promise<number> {
    const port = await freePort();
    const { options = () => [] } = this.#options;
    const server = new OwnRedis(port, [
      ...['--repl-diskless-sync-delay', '0', '--repl-diskless-load', 'swapdb'],
      ...['--dir', this.#directory, '--dbfilename', `${port}.rdb`],
      ...options(port),
      ...more,
    ]);
    this.#servers.set(port, server);
    await server.start();
    return port;
  }

  get sentinelPorts(): number[] {
    return [...this.#sentinels.keys()];
  }

  get url(): string {
    const hosts = this.sentinelPorts.map((port) => `127.0.0.1:${port}`);
    return `redis+sentinel://${hosts.join(',')}/${OwnSentinels.masterName}`;
  }

  /** The master that the sentinels name. */
  async master(): Promise<OwnRedis> {
    const [first = 0] = this.sentinelPorts;
    return this.#masterOf(first);
  }

  async #masterOf(sentinel: number): Promise<OwnRedis> {
    const answer = await ask(
      sentinel,
      (client) => client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', OwnSentinels.masterName),
      this.#options.sentinelClient,
    );
    const server = Array.isArray(answer) ? this.#servers.get(Number(answer[1])) : undefined;
    if (server === undefined) throw new Error(`The sentinel names ${String(answer)}`);
    return server;
  }

  /** Waits until every sentinel names one master, knows the other sentinels and both replicas, and these follow the master. */
  async untilComplete(): Promise<void> {
    await vi.waitFor(async () => {
      const masters = new Set<OwnRedis>();
      for (const port of this.sentinelPorts) {
        masters.add(await this.#masterOf(port));
        const state = await ask(
          port,
          (client) => client.call('SENTINEL', 'MASTER', OwnSentinels.masterName),
          { ...this.#options.sentinelClient, protocol: 2 },
        );
        const facts = Array.isArray(state) ? state.map(String) : [];
        const fact = (name: string) => facts[facts.indexOf(name) + 1];
        if (fact('flags') !== 'master') throw new Error(`flags ${fact('flags')}`);
        if (fact('num-other-sentinels') !== '2') throw new Error('a sentinel does not know the others');
        if (fact('num-slaves') !== '2') throw new Error('a sentinel does not know the replicas');
      }
      const [master] = masters;
      if (master === undefined || masters.size > 1) throw new Error('the sentinels do not agree');
      const info = await ask(master.port, (client) => client.info('replication'), this.#options.client);
      if ([...info.matchAll(/state=online/g)].length < 2) throw new Error(info);
    }, patient);
  }

  /** Starts a server that was killed, as a replica of the present master, and waits until all is as before. */
  async restart(server: OwnRedis): Promise<void> {
    await server.start('--replicaof', '127.0.0.1', String((await this.master()).port));
    await this.untilComplete();
  }

  /** The processes, to stop and kill. */
  sentinel(place: number): ChildProcess {
    const child = [...this.#sentinels.values()][place];
    if (child === undefined) throw new Error('There is no such sentinel');
    return child;
  }

  get servers(): readonly OwnRedis[] {
    return [...this.#servers.values()];
  }

  async close(): Promise<void> {
    for (const child of this.#sentinels.values()) await killRedis(child);
    for (const server of this.#servers.values()) await server.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** A cluster of three masters with a replica each: real servers, on free ports. */
export class OwnCluster {
  readonly #servers: OwnRedis[] = [];
  readonly #directory = mkdtempSync(join(tmpdir(), 'latchkey-cluster-'));

  static async start(): Promise<OwnCluster> {
    const own = new OwnCluster();
    try {
      await own.#start();
    } catch (error) {
      await own.close();
      throw error;
    }
    return own;
  }

  async #start(): Promise<void> {
    for (let count = 0; count < 6; count += 1) await this.#startServer();
    const [first, ...others] = this.#servers;
    if (first === undefined) return;
    for (const other of others) await ask(first.port, (client) => meet(client, other.port));
    for (const [place, from, to] of [
      [0, 0, 5460],
      [1, 5461, 10_922],
      [2, 10_923, 16_383],
    ] as const) {
      const master = this.#servers[place];
      if (master !== undefined) {
        await ask(master.port, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', from, to));
      }
    }
    await this.#until(async (client) => {
      const nodes = await client.call('CLUSTER', 'NODES');
      if (String(nodes).trim().split('\n').length < 6) throw new Error(String(nodes));
    });
    for (const place of [0, 1, 2]) {
      const [master, replica] = [this.#servers[place], this.#servers[place + 3]];
      if (master === undefined || replica === undefined) return;
      const id = await ask(master.port, (client) => client.call('CLUSTER', 'MYID'));
      await ask(replica.port, (client) => client.call('CLUSTER', 'REPLICATE', String(id)));
    }
    await this.untilComplete();
  }

  async #startServer(): Promise<void> {
    const port = await freePort();
    const server = new OwnRedis(port, [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`],
      ...[
        '--cluster-port',
        String(await freePort()),
        '--cluster-node-timeout',
        String(detectionMilliseconds),
      ],
      ...[
        '--repl-ping-replica-period',
        '1',
        '--repl-diskless-sync-delay',
        '0',
        '--repl-diskless-load',
        'swapdb',
      ],
      ...['--dir', this.#directory, '--dbfilename', `${port}.rdb`],
    ]);
    this.#servers.push(server);
    await server.start();
  }

  async #until(check: (client: Redis) => Promise<void>): Promise<void> {
    for (const { port } of this.#servers) await vi.waitFor(() => ask(port, check), patient);
  }

  /** Waits until every node knows that the cluster is up, and every master has a replica that follows it. */
  async untilComplete(): Promise<void> {
    await this.#until(async (client) => {
      for (const [, , , ...replicas] of slots.parse(await client.cluster('SLOTS'))) {
        if (replicas.length === 0) throw new Error('a master has no replica that has received something');
      }
      const info = String(await client.call('CLUSTER', 'INFO'));
      if (!info.includes('cluster_state:ok')) throw new Error(info);
      const replication = await client.info('replication');
      if (!/role:master[\s\S]*state=online|master_link_status:up/.test(replication))
        throw new Error(replication);
    });
  }

  /** With the addresses of two nodes: the others are learned. */
  get url(): string {
    const hosts = this.#servers.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`);
    return `redis+cluster://${hosts.join(',')}`;
  }

  get servers(): readonly OwnRedis[] {
    return this.#servers;
  }

  /** The master that owns a slot, as a node knows it. */
  async owner(slot: number, knows = this.#servers[0]): Promise<OwnRedis> {
    const owner = (await this.#ranges(knows)).find(({ from, to }) => from <= slot && slot <= to)?.owner;
    if (owner === undefined) throw new Error(`Slot ${slot} has no owner`);
    return owner;
  }

  /** All masters, as a node knows them. */
  async masters(): Promise<OwnRedis[]> {
    return [...new Set((await this.#ranges(this.#servers[0])).map(({ owner }) => owner))];
  }

  async #ranges(knows: OwnRedis | undefined): Promise<{ from: number; to: number; owner: OwnRedis }[]> {
    const answer: unknown = await ask(knows?.port ?? 0, (client) => client.cluster('SLOTS'));
    return slots.parse(answer).map(([from, to, [, port]]) => {
      const owner = this.#servers.find((server) => server.port === port);
      if (owner === undefined) throw new Error(`Port ${port} is no node's`);
      return { from, to, owner };
    });
  }

  /** Moves a slot with its keys to another master, as `redis-cli --cluster reshard` does. */
  async move(slot: number, to: OwnRedis): Promise<void> {
    const from = await this.owner(slot);
    const idOf = async ({ port }: OwnRedis) =>
      String(await ask(port, (client) => client.call('CLUSTER', 'MYID')));
    const [fromId, toId] = [await idOf(from), await idOf(to)];
    const set = ({ port }: OwnRedis, ...state: string[]) =>
      ask(port, (client) => client.call('CLUSTER', 'SETSLOT', slot, ...state));
    await set(to, 'IMPORTING', fromId);
    await set(from, 'MIGRATING', toId);
    await ask(from.port, async (client) => {
      for (;;) {
        const keys = z.array(z.string()).parse(await client.call('CLUSTER', 'GETKEYSINSLOT', slot, 100));
        if (keys.length === 0) return;
        await client.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
      }
    });
    await set(to, 'NODE', toId);
    for (const { port } of await this.masters()) {
      await ask(port, (client) => client.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId));
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

const slots = z.array(
  z.tuple([z.int(), z.int(), z.tuple([z.string(), z.int()]).rest(z.unknown())]).rest(z.unknown()),
);

/** Clusters of other tests are not met: every node has its own bus port. */
async function meet(client: Redis, port: number): Promise<void> {
  const busPort = await ask(
    port,
    async (other) => {
      const answer = z.array(z.string()).parse(await other.call('CONFIG', 'GET', 'cluster-port'));
      return answer[1] ?? '';
    },
    { protocol: 2 },
  );
  await client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort);
}
