import { randomBytes } from 'node:crypto';
import { freePort, redisUrl } from '../ephemeral/support.ts';
import { createServerDatabase, serverTemplate, serverUrl } from './database.ts';
import { type ServiceProcess, startServiceProcess } from './process.ts';

/** Whether there is a PostgreSQL server and a Redis for several instances. */
export const canRunInstances = serverUrl !== null && redisUrl !== undefined;

export const instanceNames = ['a', 'b', 'c'] as const;
export type InstanceName = (typeof instanceNames)[number];

/** Three instances as processes, on one database and one Redis, each with a port that it keeps. */
export interface ThreeInstances {
  readonly ports: readonly [number, number, number];
  url(name: InstanceName): string;
  /** Stops an instance; with SIGKILL, it finishes nothing. */
  stop(name: InstanceName, signal?: NodeJS.Signals): Promise<void>;
  start(name: InstanceName): Promise<void>;
  /** What all instances have printed, those that were stopped included. */
  output(): string;
  remove(): Promise<void>;
}

const noLimit = 999_999;
const limits = ['auth', 'session', 'validate', 'clientAuth', 'appCreate', 'licenseCreate', 'licenseRows'];

/** Starts them behind one proxy. */
export async function startThreeInstances(): Promise<ThreeInstances> {
  const database = await createServerDatabase(await serverTemplate());
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl ?? '',
    SERVICE_SECRET: randomBytes(32).toString('base64'),
    PUBLIC_URL: 'https://licenses.example.com',
    TRUST_PROXY: '1',
    // Every client of a test has the address of the test's proxy's client.
    RATE_LIMITS: limits.map((name) => `${name}=${noLimit}`).join(','),
  };
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const running = new Map<InstanceName, ServiceProcess>();
  const ended: string[] = [];
  const portOf = (name: InstanceName) => ports[instanceNames.indexOf(name)];
  const start = async (name: InstanceName) => {
    running.set(name, await startServiceProcess({ ...env, PORT: String(portOf(name)) }));
  };
  const stop = async (name: InstanceName, signal?: NodeJS.Signals) => {
    const instance = running.get(name);
    running.delete(name);
    const code = await instance?.stop(signal);
    ended.push(instance?.output() ?? '');
    if (signal === undefined && instance !== undefined && code !== 0)
      throw new Error(`${name} ended with ${code}: ${instance.output().slice(-2_000)}`);
  };
  await Promise.all(instanceNames.map(start));
  return {
    ports,
    url: (name) => `http://127.0.0.1:${portOf(name)}`,
    stop,
    start,
    output: () => [...ended, ...[...running.values()].map((instance) => instance.output())].join('\n'),
    remove: async () => {
      await Promise.all([...running.keys()].map((name) => stop(name, 'SIGKILL')));
      await database.drop();
    },
  };
}
