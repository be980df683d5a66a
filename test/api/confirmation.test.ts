import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { totpCodeOf } from '../setup/second-factor.ts';
import { databaseState } from '../setup/stored.ts';
import { useServer } from '../setup/use-world.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, expectFailure, expectSuccess, noLimits } from './support.ts';

const server = useServer({ env: noLimits });

interface Subject {
  readonly world: World;
  readonly applicationId: string;
  readonly licenseId: string;
  /** Of a key that is not used. */
  readonly apiKeyId: string;
  readonly webhookId: string;
  readonly password: string;
}

/** An act over REST and over GraphQL. */
interface Act {
  readonly name: string;
  readonly rest: (client: ApiClient, subject: Subject) => Promise<ApiAnswer>;
  readonly mutation?: (subject: Subject) => { field: string; input: object; select: string };
  readonly query?: (subject: Subject) => string;
}

const post = (path: string, body: (subject: Subject) => object) => (client: ApiClient, subject: Subject) =>
  client.post(`/api/v1${path}`, body(subject));
const profile = (body: (subject: Subject) => object) => ({
  rest: (client: ApiClient, subject: Subject) => client.patch('/api/v1/account/profile', body(subject)),
  mutation: (subject: Subject) => ({
    field: 'updateProfile',
    input: body(subject),
    select: 'developer { id }',
  }),
});
const bulk = (members: object) => ({
  rest: (client: ApiClient, { applicationId, licenseId }: Subject) =>
    client.post(`/api/v1/apps/${applicationId}/licenses/bulk`, { ids: [licenseId], ...members }),
  mutation: ({ applicationId, licenseId }: Subject) => ({
    field: 'bulkLicenses',
    input: { applicationId, ids: [licenseId], ...members },
    select: 'matched',
  }),
});

const salt = Buffer.alloc(16, 1).toString('base64');
const vault = { vaultSaltB64: salt, vaultCheckB64: salt };
const newWebhook = { url: 'https://example.com/another', types: ['license.banned'] };

/** Every act that needs a confirmation. */
const dangerous: readonly Act[] = [
  {
    name: 'deleting an application',
    rest: (client, { applicationId }) => client.delete(`/api/v1/apps/${applicationId}`),
    mutation: ({ applicationId }) => ({
      field: 'deleteApplication',
      input: { id: applicationId },
      select: 'deletedApplicationId',
    }),
  },
  {
    name: 'deleting the account',
    rest: post('/account/delete', ({ password }) => ({ confirm: 'DELETE', password })),
    mutation: ({ password }) => ({
      field: 'deleteAccount',
      input: { confirm: 'DELETE', password },
      select: 'deletedDeveloperId',
    }),
  },
  { name: 'deleting licenses in bulk', ...bulk({ action: 'delete', dryRun: false }) },
  {
    name: 'deleting a license',
    rest: (client, { licenseId }) => client.delete(`/api/v1/licenses/${licenseId}`),
    mutation: ({ licenseId }) => ({
      field: 'deleteLicense',
      input: { id: licenseId },
      select: 'deletedLicenseId',
    }),
  },
  {
    name: 'replacing the vault',
    rest: post('/account/vault', ({ password }) => ({ ...vault, password })),
    mutation: ({ password }) => ({ field: 'setVault', input: { ...vault, password }, select: '__typename' }),
  },
  {
    name: 'creating a webhook',
    rest: post('/webhooks', () => newWebhook),
    mutation: () => ({ field: 'createWebhook', input: newWebhook, select: 'secret' }),
  },
  {
    name: 'changing where a webhook leads',
    rest: (client, { webhookId }) => client.patch(`/api/v1/webhooks/${webhookId}`, { url: newWebhook.url }),
    mutation: ({ webhookId }) => ({
      field: 'updateWebhook',
      input: { id: webhookId, url: newWebhook.url },
      select: 'webhook { id }',
    }),
  },
  {
    name: 'replacing the secret of a webhook',
    rest: (client, { webhookId }) => client.post(`/api/v1/webhooks/${webhookId}/rotate-secret`),
    mutation: ({ webhookId }) => ({
      field: 'rotateWebhookSecret',
      input: { id: webhookId },
      select: 'secret',
    }),
  },
  {
    name: 'creating an API key',
    rest: post('/account/api-keys', () => ({ name: 'key' })),
    mutation: () => ({ field: 'createApiKey', input: { name: 'key' }, select: 'apiKey' }),
  },
  {
    name: 'changing the rights of an API key',
    rest: (client, { apiKeyId }) => client.patch(`/api/v1/account/api-keys/${apiKeyId}`, { name: 'other' }),
    mutation: ({ apiKeyId }) => ({
      field: 'updateApiKey',
      input: { id: apiKeyId, name: 'other' },
      select: 'key { id }',
    }),
  },
  {
    name: 'rotating an API key',
    rest: (client, { apiKeyId }) =>
      client.post(`/api/v1/account/api-keys/${apiKeyId}/rotate`, { overlapSeconds: 0 }),
    mutation: ({ apiKeyId }) => ({
      field: 'rotateApiKey',
      input: { id: apiKeyId, overlapSeconds: 0 },
      select: 'apiKey',
    }),
  },
  {
    name: 'changing the email address',
    ...profile(({ password, world }) => ({ password, email: `new.${world.developer.email}` })),
  },
  {
    name: 'changing the password',
    ...profile(({ password }) => ({ password, newPassword: `${password}!` })),
  },
  {
    name: 'no longer requiring confirmations',
    rest: post('/account/require-confirmation', ({ password }) => ({ requireConfirmation: false, password })),
    mutation: ({ password }) => ({
      field: 'setRequireConfirmation',
      input: { requireConfirmation: false, password },
      select: 'security { requireConfirmation }',
    }),
  },
  {
    name: 'exporting the account',
    rest: (client) => client.get('/api/v1/account/export'),
    query: () => '{ accountExport }',
  },
  {
    name: 'exporting end users',
    rest: (client, { applicationId }) => client.get(`/api/v1/apps/${applicationId}/users/export`),
    query: ({ applicationId }) => `{ endUserExport(applicationId: "${applicationId}") }`,
  },
];

/** Some that need none. */
const harmless: readonly Act[] = [
  { name: 'changing the name', ...profile(({ password }) => ({ password, name: 'Grace' })) },
  { name: 'previewing a deletion in bulk', ...bulk({ action: 'delete', dryRun: true }) },
  { name: 'suspending licenses in bulk', ...bulk({ action: 'suspend', dryRun: false }) },
  {
    name: 'ending all other sessions',
    rest: post('/account/sessions/revoke-others', () => ({})),
    query: () => 'mutation { revokeOtherSessions { revoked } }',
  },
];

function askGraphql(client: ApiClient, { mutation, query }: Act, subject: Subject): Promise<ApiAnswer> {
  if (query !== undefined) return client.post('/graphql', { query: query(subject) });
  const { field, input, select } = mutation?.(subject) ?? { field: '', input: {}, select: '' };
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const text = `mutation ($input: ${type}!) { ${field}(input: $input) { ${select} } }`;
  return client.post('/graphql', { query: text, variables: { input } });
}

const graphqlBody = z.object({
  errors: z.array(z.object({ extensions: z.object({ code: z.string() }) })).default([]),
});
const failureCode = z.object({ code: z.string() });

/** The code of the refusal; null if the act succeeded. */
const transports: Readonly<
  Record<string, (client: ApiClient, act: Act, subject: Subject) => Promise<string | null>>
> = {
  REST: async (client, act, subject) => {
    const { status, body } = await act.rest(client, subject);
    return status < 300 ? null : failureCode.parse(body).code;
  },
  GraphQL: async (client, act, subject) => {
    const { body } = await askGraphql(client, act, subject);
    return graphqlBody.parse(body).errors[0]?.extensions.code ?? null;
  },
};

async function createSubject(): Promise<Subject> {
  const world = await createWorld(server);
  const application = await world.createApplication();
  const { id: licenseId } = await application.mintOne();
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'unused' });
  const { id: apiKeyId } = expectSuccess(created, 201, apiKeyAnswer).key;
  const { id: webhookId } = await createWebhook(world.client, {
    url: 'https://example.com/hook',
    // Nothing that these tests do, so that nothing is sent.
    types: ['device.moved'],
  });
  const { password } = world.developer;
  return { world, applicationId: application.id, licenseId, apiKeyId, webhookId, password };
}

const confirm = (client: ApiClient, { password }: Subject, more: object = {}) =>
  client.post('/api/v1/auth/confirm', { password, ...more });

async function requireConfirmations({ world, password }: Subject): Promise<void> {
  const body = { requireConfirmation: true, password };
  const answer = await world.client.post('/api/v1/account/require-confirmation', body);
  expect(answer.status).toBe(200);
}

/** Turns TOTP on. @returns the secret in base32 */
async function turnTotpOn({ world, password }: Subject): Promise<string> {
  const begun = await world.client.post('/api/v1/account/totp/begin', { password });
  const { secret } = z.object({ secret: z.string() }).parse(begun.body);
  const totpCode = totpCodeOf(secret, server.clock.now());
  expect((await world.client.post('/api/v1/account/totp/confirm', { totpCode })).status).toBe(200);
  return secret;
}

const cases = Object.keys(transports).flatMap((transport) =>
  dangerous.map((act) => ({ transport, act, name: act.name })),
);
const ask = (transport: string, client: ApiClient, act: Act, subject: Subject) =>
  transports[transport]?.(client, act, subject);

describe.each(cases)('$name over $transport', ({ transport, act }) => {
  test('needs no confirmation by default', async () => {
    const subject = await createSubject();
    expect(await ask(transport, subject.world.client, act, subject)).toBeNull();
  });

  test('is refused without one and changes nothing, if the account requires it; succeeds after it', async () => {
    const subject = await createSubject();
    const { client } = subject.world;
    await requireConfirmations(subject);
    const before = await databaseState(server);
    expect(await ask(transport, client, act, subject)).toBe('CONFIRMATION_REQUIRED');
    expect(await databaseState(server)).toEqual(before);
    expect((await confirm(client, subject)).status).toBe(200);
    expect(await ask(transport, client, act, subject)).toBeNull();
  });

  test('is refused without one while TOTP is on; succeeds after one with a code', async () => {
    const subject = await createSubject();
    const { client } = subject.world;
    const secret = await turnTotpOn(subject);
    expect(await ask(transport, client, act, subject)).toBe('CONFIRMATION_REQUIRED');
    expectFailure(await confirm(client, subject), 401, 'TOTP_REQUIRED');
    expect(await ask(transport, client, act, subject)).toBe('CONFIRMATION_REQUIRED');
    server.clock.step(30);
    const totpCode = totpCodeOf(secret, server.clock.now());
    expect((await confirm(client, subject, { totpCode })).status).toBe(200);
    expect(await ask(transport, client, act, subject)).toBeNull();
  });

  test('is not asked of an API key', async () => {
    const subject = await createSubject();
    const created = await subject.world.client.post('/api/v1/account/api-keys', { name: 'key' });
    const bearer = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;
    await turnTotpOn(subject);
    const client = new ApiClient(server.baseUrl, { bearer });
    expect(await ask(transport, client, act, subject)).toBeNull();
  });
});

test.each(
  Object.keys(transports).flatMap((transport) => harmless.map((act) => ({ transport, act, name: act.name }))),
)('$name over $transport never needs a confirmation', async ({ transport, act }) => {
  const subject = await createSubject();
  await turnTotpOn(subject);
  expect(await ask(transport, subject.world.client, act, subject)).toBeNull();
});

describe('a confirmation', () => {
  const createKey = async ({ world: { client } }: Subject) =>
    (await client.post('/api/v1/account/api-keys', { name: 'key' })).status;

  test('with a wrong code is refused again if it is repeated with its Idempotency-Key', async () => {
    const subject = await createSubject();
    await turnTotpOn(subject);
    const { password, world } = subject;
    const client = world.client.with({ headers: { 'Idempotency-Key': 'a key that is used twice' } });
    for (let time = 0; time < 2; time += 1) {
      const answer = await client.post('/api/v1/auth/confirm', { password, totpCode: '000000' });
      expectFailure(answer, 401, 'TOTP_INVALID');
    }
  });

  test('with a wrong password, too', async () => {
    const subject = await createSubject();
    const client = subject.world.client.with({ headers: { 'Idempotency-Key': 'a key that is used twice' } });
    for (let time = 0; time < 2; time += 1) {
      expectFailure(await confirm(client, { ...subject, password: 'wrong' }), 401, 'INVALID_CREDENTIALS');
    }
  });

  test('lasts ten minutes, as its answer says', async () => {
    const subject = await createSubject();
    await requireConfirmations(subject);
    const answer = await confirm(subject.world.client, subject);
    const { confirmedUntil } = z.object({ confirmedUntil: z.iso.datetime() }).parse(answer.body);
    const left = () => Date.parse(confirmedUntil) - server.clock.now();
    expect(left()).toBeGreaterThan(9 * 60_000);
    expect(left()).toBeLessThanOrEqual(10 * 60_000);
    server.clock.step(left() / 1000 - 5);
    expect(await createKey(subject)).toBe(201);
    server.clock.step(10);
    expect(await createKey(subject)).toBe(403);
  });

  test('needs the right password', async () => {
    const subject = await createSubject();
    await requireConfirmations(subject);
    const answer = await confirm(subject.world.client, { ...subject, password: 'wrong' });
    expectFailure(answer, 401, 'INVALID_CREDENTIALS');
    expect(await createKey(subject)).toBe(403);
  });

  test('is of one session', async () => {
    const subject = await createSubject();
    await requireConfirmations(subject);
    const login = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', subject.world.login);
    const other = new ApiClient(server.baseUrl, { cookie: cookieOf(login) ?? '' });
    expect((await confirm(other, subject)).status).toBe(200);
    expect(await createKey(subject)).toBe(403);
    expect((await other.post('/api/v1/account/api-keys', { name: 'key' })).status).toBe(201);
  });

  test('ends when TOTP is turned on: it was given without a code', async () => {
    const subject = await createSubject();
    expect((await confirm(subject.world.client, subject)).status).toBe(200);
    await turnTotpOn(subject);
    expect(await createKey(subject)).toBe(403);
  });

  test('serves later fields of the same document', async () => {
    const subject = await createSubject();
    await requireConfirmations(subject);
    const query =
      'mutation ($password: String!) { confirmSession(input: { password: $password }) { confirmedUntil } createApiKey(input: { name: "key" }) { apiKey } }';
    const { password } = subject;
    const answer = await subject.world.client.post('/graphql', { query, variables: { password } });
    expect(graphqlBody.parse(answer.body).errors).toEqual([]);
  });

  test('cannot be given by an API key', async () => {
    const subject = await createSubject();
    const created = await subject.world.client.post('/api/v1/account/api-keys', { name: 'key' });
    const bearer = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;
    const answer = await confirm(new ApiClient(server.baseUrl, { bearer }), subject);
    expectFailure(answer, 403, 'FORBIDDEN');
  });
});
