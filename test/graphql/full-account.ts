import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { openPrivateKey } from '../../src/crypto/sealed-private-key.ts';
import { apiKeyAnswer, bansAnswer, expectSuccess, userAnswer } from '../api/support.ts';
import { randomIp } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { ask } from '../setup/end-users.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import type { TestServer } from '../setup/server.ts';
import { databaseState, sql } from '../setup/stored.ts';
import type { SeededApplication, SeededLicense } from '../setup/world.ts';
import { createApiKey, createGraphqlWorld, type GraphqlWorld } from './support.ts';

/** What a document can name. */
export interface Ids {
  readonly application: string;
  /** Active, bound to a device, and linked to the user. */
  readonly license: string;
  /** The text that the license's device shows when it has no network. */
  readonly deviceRequest: string;
  readonly user: string;
  readonly ban: string;
  /** An API key, and not the one of `apiKey`. */
  readonly key: string;
}

/** A developer with something of every kind, and the licenses in every status. Each text of theirs holds the mark. */
export interface FullAccount extends GraphqlWorld {
  readonly mark: string;
  readonly application: SeededApplication;
  readonly licenses: Readonly<Record<'unused' | 'active' | 'expired' | 'banned', SeededLicense>>;
  readonly ids: Ids;
  /** An API key that is good. */
  readonly apiKey: string;
  readonly revokedKey: string;
  /** What the service must never tell, by name. */
  readonly secrets: Readonly<Record<string, string | Uint8Array>>;
}

const userPassword = (mark: string) => `a user's password ${mark}`;

export async function createFullAccount(server: TestServer): Promise<FullAccount> {
  const mark = randomBytes(6).toString('hex');
  const world = await createGraphqlWorld(server);
  const { client } = world;
  const application = await world.createApplication({ name: `Photo Lab ${mark}` });
  await application.settings({
    requireLicenseToRegister: false,
    leasesEnabled: true,
    responseMessages: { OK: `Hi ${mark}` },
  });
  const mint = (status: string) => application.mintOne({ durationSeconds: 3_600, note: `${status} ${mark}` });
  const licenses = {
    unused: await mint('unused'),
    active: await mint('active'),
    expired: await mint('expired'),
    banned: await mint('banned'),
  };

  const users = `/api/v1/apps/${application.id}/users`;
  const password = userPassword(mark);
  const created = await client.post(users, {
    username: `grace.${mark}`,
    password,
    email: `grace.${mark}@example.com`,
    licenseKey: licenses.active.licenseKey,
  });
  await client.post(users, { username: `alone.${mark}`, password });
  const granted = await ask(server, application, 'login', {
    username: `grace.${mark}`,
    password,
    hwid: `device ${mark}`,
  });
  const session = await openSession(server, application);
  for (const { licenseKey } of [licenses.expired, licenses.banned])
    await session.ask(validatePath, { licenseKey, hwid: `another device ${mark}` });
  const expired = `UPDATE licenses SET expires_at = created_at + interval '1 millisecond' WHERE id = $1`;
  await sql(server, expired, [licenses.expired.id]);
  await client.post(`/api/v1/licenses/${licenses.banned.id}/ban`, { scope: 'hwid_and_ip', ip: randomIp() });

  const [{ apiKey }, spare, revoked] = [
    await createApiKey(client),
    await createApiKey(client),
    expectSuccess(await client.post('/api/v1/account/api-keys', { name: `old ${mark}` }), 201, apiKeyAnswer)
      .key,
  ];
  await client.post(`/api/v1/account/api-keys/${revoked.id}/revoke`);
  await server.deps.services.securityLog.flush();
  const bans = expectSuccess(await client.get(`/api/v1/apps/${application.id}/bans`), 200, bansAnswer).bans;
  return {
    ...world,
    mark,
    application,
    licenses,
    ids: {
      application: application.id,
      license: licenses.active.id,
      deviceRequest: deviceRequestOf(application.id, `device ${mark}`),
      user: expectSuccess(created, 201, userAnswer).user.id,
      ban: bans[0]?.id ?? '',
      key: spare.id,
    },
    apiKey,
    revokedKey: revoked.apiKey,
    secrets: {
      password: world.developer.password,
      userPassword: password,
      sessionToken: z.string().parse(granted.sessionToken),
      apiKey,
      spareKey: spare.apiKey,
      revokedKey: revoked.apiKey,
      ...Object.fromEntries(
        Object.entries(licenses).map(([status, { licenseKey }]) => [`${status} licenseKey`, licenseKey]),
      ),
      ...(await storedSecrets(server, world.developer.id, application.id)),
    },
  };
}

/** What the database keeps of a developer that nobody is to see: hashes, and the application's private key. */
async function storedSecrets(
  server: TestServer,
  developerId: string,
  applicationId: string,
): Promise<Record<string, string | Uint8Array>> {
  const { prisma } = server.deps.services.database;
  const developer = await prisma.developer.findUniqueOrThrow({
    where: { id: developerId },
    select: { passwordHash: true, apiKeys: { select: { keyHash: true } } },
  });
  const application = await prisma.application.findUniqueOrThrow({
    where: { id: applicationId },
    select: {
      privateKeyEncrypted: true,
      licenses: { select: { keyHash: true } },
      endUsers: { select: { passwordHash: true, sessions: { select: { tokenHash: true } } } },
    },
  });
  const { privateKeyEncrypted } = application;
  const hashes = [
    ...developer.apiKeys.map(({ keyHash }) => keyHash),
    ...application.licenses.map(({ keyHash }) => keyHash),
    ...application.endUsers.flatMap(({ sessions }) => sessions.map(({ tokenHash }) => tokenHash)),
  ];
  return {
    passwordHash: developer.passwordHash,
    privateKey: openPrivateKey(server.deps.services.keyring, applicationId, privateKeyEncrypted),
    privateKeyEncrypted,
    ...Object.fromEntries(hashes.map((hash, index) => [`hash ${index}`, hash])),
    ...Object.fromEntries(
      application.endUsers.map(({ passwordHash }, index) => [`userHash ${index}`, passwordHash]),
    ),
  };
}

/** The names of the secrets that a text holds, in any spelling. */
export function secretsIn(text: string, secrets: FullAccount['secrets']): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => text.includes(spelling)) ? [name] : [],
  );
}

function spellings(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [
    ...(typeof secret === 'string' ? [secret, JSON.stringify(secret).slice(1, -1)] : []),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    [...bytes].join(','),
    ...(typeof secret === 'string' ? [createHash('sha256').update(secret).digest('hex')] : []),
  ];
}

const rows = z.array(z.record(z.string(), z.unknown()));

/** What `databaseState` gives, less when API keys were last used: that is noted a second after the use. */
export async function stateBesideUse(server: TestServer): Promise<Record<string, unknown>> {
  const state = await databaseState(server);
  const keys = rows.parse(state.api_keys).map(({ last_used_at: _, ...key }) => key);
  return { ...state, api_keys: keys };
}

/** The rows of the database that are some developers', by table, of what `databaseState` gives. */
export function rowsOf(
  state: Record<string, unknown>,
  developerIds: readonly string[],
): Record<string, Record<string, unknown>[]> {
  const owners = new Set<unknown>(developerIds);
  for (const [table, parent] of [
    ['applications', 'developer_id'],
    ['end_users', 'application_id'],
  ] as const) {
    for (const row of rows.parse(state[table])) if (owners.has(row[parent])) owners.add(row.id);
  }
  const columns = ['id', 'developer_id', 'application_id', 'end_user_id'];
  const isOwn = (row: Record<string, unknown>) => columns.some((column) => owners.has(row[column]));
  return Object.fromEntries(
    Object.entries(state).map(([table, all]) => [table, rows.parse(all).filter(isOwn)]),
  );
}

/** Every text of at least five characters that the database keeps of a developer. */
export async function textsOf(server: TestServer, { developer }: FullAccount): Promise<Set<string>> {
  const own = rowsOf(await databaseState(server), [developer.id]);
  const texts = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= 5) texts.add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(own);
  return texts;
}
