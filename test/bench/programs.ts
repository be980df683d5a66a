import { bareLikeService } from './bare/like-service.ts';
import type { BareMaterial } from './bare/material.ts';
import { startBare } from './bare/process.ts';
import { type BenchDatabase, createDatabase } from './database.ts';
import type { PartContext } from './part.ts';
import type { Programs } from './scenarios/programs.ts';
import { type Seed, seed } from './seed.ts';
import { type MeasuredProcess, type ServiceOptions, type ServiceProcess, startService } from './service.ts';

/** A service with its database, filled. */
export interface FilledService {
  readonly database: BenchDatabase;
  readonly service: ServiceProcess;
  readonly seed: Seed;
}

/** Starts a service as a user would, on a database of its own, and fills it through its API. */
export async function startFilled(
  { options, undo, signal, say }: PartContext,
  env: Readonly<Record<string, string>> = {},
  how: ServiceOptions = {},
): Promise<FilledService> {
  signal.throwIfAborted();
  say('Starting the service …');
  const database = await createDatabase(options.databaseUrl, undo);
  signal.throwIfAborted();
  const service = await startService(
    { ...database.env, ...(options.redisUrl !== null && { REDIS_URL: options.redisUrl }), ...env },
    undo,
    how,
  );
  say('Filling it through its API …');
  const filled = { database, service, seed: await seed(`http://127.0.0.1:${service.port}`) };
  signal.throwIfAborted();
  return filled;
}

/** Starts the bare program beside a service, with the same licenses and a key of its own. */
export async function startBareBeside(
  { seed }: FilledService,
  { undo, signal }: PartContext,
  more: Partial<BareMaterial> = {},
): Promise<{ readonly bare: MeasuredProcess } & Programs> {
  const { material, publicKeyB64 } = await bareLikeService(seed);
  const bare = await startBare({ ...material, ...more }, undo);
  signal.throwIfAborted();
  const client = { ...seed.client, publicKeyB64, baseUrl: `http://127.0.0.1:${bare.port}` };
  return { bare, seed, clients: { service: seed.client, bare: client } };
}
