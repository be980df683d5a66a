import { randomBytes } from 'node:crypto';
import { createManagementClient, type ManagementClient } from '../../src/management/index.ts';
import { createApiKey } from '../graphql/support.ts';
import { randomIp } from '../setup/api-client.ts';
import type { TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';

export interface ManagedWorld extends World {
  readonly apiKey: string;
  /** The client under test, with the developer's API key, from a separate address. */
  readonly latchkey: ManagementClient;
}

/** A new developer, managed with an API key. */
export async function createManagedWorld(server: TestServer): Promise<ManagedWorld> {
  const world = await createWorld(server);
  const { apiKey } = await createApiKey(world.client);
  return { ...world, apiKey, latchkey: clientOf(server, apiKey) };
}

export const clientOf = (server: TestServer, apiKey?: string): ManagementClient =>
  createManagementClient({
    baseUrl: server.baseUrl,
    apiKey,
    headers: { 'X-Forwarded-For': randomIp() },
  });

/** A well-formed key that the service has not issued. */
export const unknownKey = () => `service_live_${randomBytes(32).toString('base64url')}`;

/** Collects an iteration. */
export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
