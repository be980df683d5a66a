import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { onTestFinished, vi } from 'vitest';
import { createRedisStore } from '../../src/ephemeral/redis.ts';
import { parseRedisUrl } from '../../src/ephemeral/redis-address.ts';
import type { EphemeralStore } from '../../src/ephemeral/store.ts';

export const redisUrl = process.env.TEST_REDIS_URL;

export const hasRedisServer = spawnSync('redis-server', ['--version']).status === 0;
if (!hasRedisServer) {
  process.stderr.write('Skipped: the loss of Redis, because there is no redis-server to start and kill.\n');
}

/** Opens instances that share a prefix of this test. Its keys are deleted when the test ends. */
export function redisInstances(url: string): {
  readonly keyPrefix: string;
  readonly client: Redis;
  open(): Promise<EphemeralStore>;
} {
  const keyPrefix = `test:${randomUUID()}:`;
  const client = new Redis(url);
  const stores: EphemeralStore[] = [];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
    const keys = await client.keys(`${keyPrefix}*`);
    if (keys.length > 0) await client.del(...keys);
    client.disconnect();
  });
  return {
    keyPrefix,
    client,
    async open() {
      const store = await createRedisStore({ address: parseRedisUrl(url), keyPrefix });
      stores.push(store);
      return store;
    },
  };
}

/** The test's own Redis server, to stop, kill and start again. */
export class OwnRedis {
  readonly port: number;
  readonly #options: readonly string[];
  #process: ChildProcess | null = null;

  constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  static async start(...options: string[]): Promise<OwnRedis> {
    const redis = new OwnRedis(await freePort(), options);
    onTestFinished(() => redis.kill());
    await redis.start();
    return redis;
  }

  /** @param more options of this start only */
  async start(...more: string[]): Promise<void> {
    const own = ['--bind', '127.0.0.1', '--port', String(this.port), '--save', '', '--appendonly', 'no'];
    const words = [...own, '--dir', '/tmp', ...this.#options, ...more];
    this.#process = await spawnRedis(words, 'Ready to accept connections');
  }

  /** Starts a replica with the current data. */
  static async copyOf(redis: OwnRedis): Promise<OwnRedis> {
    const copy = await OwnRedis.start();
    await copy.replicate(redis);
    return copy;
  }

  /** Makes it a replica and waits until it has the other's data instead of its own. */
  async replicate(master: OwnRedis): Promise<void> {
    await master.#ask(async (client) => {
      await client.config('SET', 'repl-diskless-sync', 'yes');
      await client.config('SET', 'repl-diskless-sync-delay', '0');
    });
    await this.#ask(async (client) => {
      // Without a file, because the next server that starts in its folder would load it.
      await client.config('SET', 'repl-diskless-load', 'swapdb');
      await client.replicaof('127.0.0.1', master.port);
      await vi.waitFor(
        async () => {
          if (!(await client.info('replication')).includes('master_link_status:up'))
            throw new Error('not yet');
        },
        { timeout: 20_000, interval: 5 },
      );
    });
  }

  /** Promotes a replica, which keeps its data. */
  async promote(): Promise<void> {
    await this.#ask((client) => client.replicaof('NO', 'ONE'));
  }

  async #ask(question: (client: Redis) => Promise<unknown>): Promise<void> {
    // A server does not answer while it loads the data of its master.
    const client = new Redis(this.url, { enableReadyCheck: false });
    try {
      await question(client);
    } finally {
      client.disconnect();
    }
  }

  /** Suspends the process: connections stay open and nothing answers. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    await killRedis(child);
  }
}

/** Runs redis-server and waits until its output contains a text. */
export async function spawnRedis(words: readonly string[], ready: string): Promise<ChildProcess> {
  const child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await vi.waitFor(
    () => {
      if (!output.includes(ready)) throw new Error(`redis-server: ${output}`);
    },
    { timeout: 20_000 },
  );
  return child;
}

export async function killRedis(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}

/** A promise that the test settles. */
export function deferred<Value>(): {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
} {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
