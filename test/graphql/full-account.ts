import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { openPrivateKey } from '../../src/crypto/sealed-private-key.ts';
import { newId } from '../../src/lib/ids.ts';
import type { ShownLicenseStatus } from '../../src/services/license/view.ts';
import {
  apiKeyAnswer,
  bansAnswer,
  expectSuccess,
  policyAnswer,
  sessionsAnswer,
  userAnswer,
} from '../api/support.ts';
import { randomIp } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { ask } from '../setup/end-users.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import type { TestServer } from '../setup/server.ts';
import { databaseState, sql } from '../setup/stored.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import type { SeededApplication, SeededLicense } from '../setup/world.ts';
import { createApiKey, createGraphqlWorld, type GraphqlWorld, visitor } from './support.ts';

/** What a document can name. */
export interface Ids {
  readonly application: string;
  /** Active, bound to a device, and linked to the user. */
  readonly license: string;
  readonly suspendedLicense: string;
  readonly bannedLicense: string;
  /** The text that the license's device shows when it has no network. */
  readonly deviceRequest: string;
  /** Of the license. */
  readonly device: string;
  readonly user: string;
  readonly ban: string;
  /** The policy by which the license was created. */
  readonly policy: string;
  /** An API key, and not the one of `apiKey`. */
  readonly key: string;
  /** A session of the dashboard, and not that of `client`. */
  readonly session: string;
  readonly webhook: string;
  /** Of the webhook. */
  readonly delivery: string;
}

/** A developer with something of every kind, and the licenses in every status. Each text of theirs holds the mark. */
export interface FullAccount extends GraphqlWorld {
  readonly mark: string;
  readonly application: SeededApplication;
  readonly licenses: Readonly<Record<ShownLicenseStatus, SeededLicense>>;
  readonly ids: Ids;
  /** An API key that is good. */
  readonly apiKey: string;
  readonly revokedKey: string;
  /** What the service must never tell, by name. */
  readonly secrets: Readonly<Record<string, string | Uint8Array>>;
}

const suspended = `UPDATE licenses SET suspended_at = created_at, clock_stopped_at = created_at,
  suspension_reason = 'unpaid' WHERE id = $1`;

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
  const createPolicy = async (code: string) => {
    const policy = {
      code: `${code}.${mark}`,
      name: `${code} ${mark}`,
      moves: { count: 3, periodSeconds: 60 },
      entitlements: { plan: `${code} ${mark}` },
      metadata: { private: { plan: `private ${code} ${mark}` } },
    };
    const answer = await client.post(`/api/v1/apps/${application.id}/policies`, policy);
    return expectSuccess(answer, 201, policyAnswer).policy;
  };
  const [policy] = [await createPolicy('pro'), await createPolicy('trial')];
  const mint = (status: string, policyId?: string) =>
    application.mintOne({
      durationSeconds: 3_600,
      note: `${status} ${mark}`,
      ...(policyId !== undefined && { policyId }),
    });
  const licenses = {
    unused: await mint('unused'),
    active: await mint('active', policy.id),
    suspended: await mint('suspended'),
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
  await sql(server, suspended, [licenses.banned.id]);
  await client.post(`/api/v1/licenses/${licenses.suspended.id}/suspend`, { reason: `unpaid ${mark}` });
  await client.post(`/api/v1/licenses/${licenses.banned.id}/ban`, { scope: 'hwid_and_ip', ip: randomIp() });

  const [{ apiKey }, spare, revoked] = [
    await createApiKey(client),
    await createApiKey(client),
    expectSuccess(await client.post('/api/v1/account/api-keys', { name: `old ${mark}` }), 201, apiKeyAnswer)
      .key,
  ];
  await client.post(`/api/v1/account/api-keys/${revoked.id}/revoke`);
  const limited = `UPDATE api_keys SET application_id = $2, allowed_cidrs = '{192.0.2.0/24}', expires_at = '2099-01-01',
    previous_valid_until = now() WHERE id = $1`;
  await sql(server, limited, [revoked.id, application.id]);
  await server.deps.services.securityLog.flush();
  await sql(
    server,
    `INSERT INTO devices (id, license_id, hwid, first_seen_at, last_seen_at, released_at, released_by)
     VALUES ($1, $2, $3, now(), now(), now(), 'vendor')`,
    [newId(), licenses.active.id, `old device ${mark}`],
  );
  const [device] = await sql<{ id: string }>(
    server,
    'SELECT id FROM devices WHERE license_id = $1 AND released_at IS NULL',
    [licenses.active.id],
  );
  await visitor(server).api.post('/api/v1/auth/login', world.login);
  const listed = await client.get('/api/v1/account/sessions');
  const spareSession = expectSuccess(listed, 200, sessionsAnswer).sessions.find(({ current }) => !current);
  const webhook = await createWebhook(client, {
    url: `https://hooks.example.com/${mark}`,
    types: ['device.moved'],
    description: `hook ${mark}`,
  });
  await createWebhook(client, {
    url: `https://hooks.example.com/another/${mark}`,
    types: ['device.moved'],
    applicationId: application.id,
  });
  const [deliveryId, anotherDeliveryId] = [newId(), newId()];
  for (const [place, id] of [deliveryId, anotherDeliveryId].entries()) {
    await sql(
      server,
      `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, sequence, status, attempts, last_attempt_at,
         latency_milliseconds, status_code, answer, error)
       SELECT $1, $2, id, type, 1, 'failed', 10, now(), 5, 500, $3, 'no'
       FROM events WHERE developer_id = $4 ORDER BY position LIMIT 1 OFFSET $5`,
      [id, webhook.id, `answer ${mark}`, world.developer.id, place],
    );
  }
  const bans = expectSuccess(await client.get(`/api/v1/apps/${application.id}/bans`), 200, bansAnswer).bans;
  return {
    ...world,
    mark,
    application,
    licenses,
    ids: {
      application: application.id,
      license: licenses.active.id,
      suspendedLicense: licenses.suspended.id,
      bannedLicense: licenses.banned.id,
      deviceRequest: deviceRequestOf(application.id, `device ${mark}`),
      device: device?.id ?? '',
      user: expectSuccess(created, 201, userAnswer).user.id,
      ban: bans[0]?.id ?? '',
      policy: policy.id,
      key: spare.id,
      session: spareSession?.id ?? '',
      webhook: webhook.id,
      delivery: deliveryId,
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
      webhookSecret: webhook.secret,
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

/** What `databaseState` gives, less when credentials were last used: that is noted a second after the use. */
export async function stateBesideUse(server: TestServer): Promise<Record<string, unknown>> {
  const state = await databaseState(server);
  const keys = rows.parse(state.api_keys).map(({ last_used_at: _, ...key }) => key);
  const sessions = rows.parse(state.account_sessions).map(({ last_seen_at: _, ...session }) => session);
  return { ...state, api_keys: keys, account_sessions: sessions };
}

/** The rows of the database that are some developers', by table, of what `databaseState` gives. */
export function rowsOf(
  state: Record<string, unknown>,
  developerIds: readonly string[],
): Record<string, Record<string, unknown>[]> {
  const owners = new Set<unknown>(developerIds);
  for (const [table, parent] of [
    ['applications', 'developer_id'],
    ['licenses', 'application_id'],
    ['end_users', 'application_id'],
    ['webhooks', 'developer_id'],
  ] as const) {
    for (const row of rows.parse(state[table])) if (owners.has(row[parent])) owners.add(row.id);
  }
  const columns = ['id', 'developer_id', 'application_id', 'end_user_id', 'license_id', 'webhook_id'];
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
