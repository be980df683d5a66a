import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { z } from 'zod';
import { ApiClient, cookieOf, randomIp } from './api-client.ts';
import type { TestServer } from './server.ts';

/** The test data: a developer with applications and licenses, created through the public API. */
export interface World {
  readonly developer: { readonly id: string; readonly email: string; readonly password: string };
  /** The developer's credentials. */
  readonly login: { readonly email: string; readonly password: string };
  /** Logged in by cookie, from a separate address. */
  readonly client: ApiClient;
  createApplication(fields?: { name?: string; version?: string }): Promise<SeededApplication>;
}

export interface SeededApplication {
  readonly id: string;
  readonly version: string;
  readonly publicKeyB64: string;
  mint(fields?: Partial<MintFields>): Promise<SeededLicense[]>;
  /** Mints one license. */
  mintOne(fields?: Partial<MintFields>): Promise<SeededLicense>;
  settings(settings: Record<string, unknown>): Promise<void>;
}

export interface MintFields {
  readonly amount: number;
  readonly durationSeconds: number;
  readonly subscriptionTier: number;
  readonly note: string;
  readonly mask: string;
  readonly policyId: string;
}

export type SeededLicense = z.infer<typeof mintedKey>;

const mintedKey = z.object({ id: z.string(), licenseKey: z.string(), keyPrefix: z.string() });
const registered = z.object({ developer: z.object({ id: z.string() }) });
const created = z.object({
  application: z.object({ id: z.string(), version: z.string() }),
  publicKeyB64: z.string(),
});
const minted = z.object({ keys: z.array(mintedKey) });

/** A new developer, registered and logged in. */
export async function createWorld(server: Pick<TestServer, 'baseUrl'>): Promise<World> {
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const password = `password ${randomBytes(8).toString('hex')}`;
  const visitor = new ApiClient(server.baseUrl);
  const answer = await visitor.post('/api/v1/auth/register', { email, password, name: 'Ada' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const cookie = cookieOf(answer);
  if (cookie === undefined) throw new Error('registering set no cookie');
  const client = visitor.with({ cookie });
  return {
    developer: { id: registered.parse(answer.body).developer.id, email, password },
    login: { email, password },
    client,
    createApplication: (fields) => createApplication(client, fields),
  };
}

async function createApplication(
  client: ApiClient,
  fields: { name?: string; version?: string } = {},
): Promise<SeededApplication> {
  const answer = await client.post('/api/v1/apps/create', { name: 'Photo Lab', ...fields });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const { application, publicKeyB64 } = created.parse(answer.body);
  const mint = async (mintFields: Partial<MintFields> = {}): Promise<SeededLicense[]> => {
    // Minting is limited per address, and test data must not count towards a test of that limit.
    const answer = await client.with({ ip: randomIp() }).post('/api/v1/licenses/create', {
      applicationId: application.id,
      amount: 1,
      durationSeconds: 0,
      ...mintFields,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return minted.parse(answer.body).keys;
  };
  return {
    id: application.id,
    version: application.version,
    publicKeyB64,
    mint,
    mintOne: async (mintFields) => {
      const [license] = await mint({ ...mintFields, amount: 1 });
      if (license === undefined) throw new Error('minting answered no key');
      return license;
    },
    settings: async (settings) => {
      const answer = await client.patch(`/api/v1/apps/${application.id}/settings`, settings);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    },
  };
}
