import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../src/app.ts';
import { ApiClient } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { knownRecoveryCode, knownTotpCode, seedPendingTotp, seedTotp } from '../setup/second-factor.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { databaseState } from '../setup/stored.ts';
import { createWebhook } from '../setup/webhook-receiver.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  apiKeyAnswer,
  bansAnswer,
  expectFailure,
  expectSuccess,
  missingId,
  policyAnswer,
  sessionsAnswer,
  userAnswer,
} from './support.ts';

const devicesAnswer = z.object({ success: z.literal(true), devices: z.array(z.object({ id: z.string() })) });

/** The limits of the interface document, in requests per minute. */
const limits = {
  auth: 20,
  session: 60,
  validate: 120,
  clientAuth: 30,
  appCreate: 300,
  licenseCreate: 30,
  blindCreate: 30,
  accountSensitive: 20,
  webhookSend: 30,
} as const;
type Limit = keyof typeof limits;

/** On this server, each limit is a different large number, so that a response shows which limit applied. */
const testLimits = Object.fromEntries(Object.keys(limits).map((name, index) => [name, 100_000 + index]));

/** Ids in a path: of an application or of its data. */
interface Ids {
  readonly app: string;
  readonly license: string;
  readonly banned: string;
  readonly suspended: string;
  /** Of the license. */
  readonly device: string;
  readonly policy: string;
  readonly user: string;
  readonly ban: string;
  readonly key: string;
  /** Of another login than the client's. */
  readonly session: string;
  readonly webhook: string;
  /** Of the webhook. */
  readonly delivery: string;
}

interface Route {
  /** Method and path relative to the base URL. */
  readonly route: string;
  readonly success: number;
  readonly auth: 'developer' | 'public';
  readonly limit?: Limit;
  /** The documented errors of this route in addition to those of every route. */
  readonly errors?: Readonly<Record<string, number>>;
  /** The kind of `:id` in the path. */
  readonly id?: 'app' | 'license' | 'banned' | 'suspended' | 'key' | 'session' | 'webhook';
  /** A valid body. */
  readonly body?: (ids: Ids, password: string) => Record<string, unknown>;
  /** A valid query string. */
  readonly query?: string;
  /** API keys are refused. */
  readonly sessionOnly?: true;
  /** Brings the account into the state in which the body succeeds. */
  readonly prepare?: (server: TestServer, developerId: string) => Promise<void>;
  /** The body contains an application id. */
  readonly appInBody?: true;
}

const invalid = { VALIDATION_FAILED: 400 };
const app = { APP_NOT_FOUND: 404 };
const license = { LICENSE_NOT_FOUND: 404 };
const policy = { APP_NOT_FOUND: 404, POLICY_NOT_FOUND: 404 };
const webhook = { WEBHOOK_NOT_FOUND: 404 };
const wrong = { INVALID_CREDENTIALS: 401 };
const codes = { TOTP_REQUIRED: 401, TOTP_INVALID: 401 };
const confirmed = { CONFIRMATION_REQUIRED: 403 };
const hash = () => randomBytes(32).toString('hex');
const sealedErrors = {
  CRYPTO_REQUIRED: 400,
  SESSION_EXPIRED: 401,
  DECRYPT_FAIL: 400,
  CLOCK_SKEW: 400,
  REPLAY: 400,
  ...invalid,
};
const vault = {
  vaultSaltB64: randomBytes(16).toString('base64'),
  vaultCheckB64: randomBytes(32).toString('base64'),
};

/** Every route of the interface document. */
const routes: readonly Route[] = [
  { route: 'GET /health', success: 200, auth: 'public' },
  {
    route: 'POST /api/v1/auth/register',
    success: 201,
    auth: 'public',
    limit: 'auth',
    errors: { ...invalid, EMAIL_TAKEN: 409, BOT_CHALLENGE_FAILED: 400, REGISTRATION_CLOSED: 403 },
  },
  {
    route: 'POST /api/v1/auth/login',
    success: 200,
    auth: 'public',
    limit: 'auth',
    errors: { ...invalid, ...wrong, ...codes, BOT_CHALLENGE_FAILED: 400 },
  },
  { route: 'POST /api/v1/auth/logout', success: 200, auth: 'public' },
  {
    route: 'POST /api/v1/auth/confirm',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, ...codes },
    body: (_ids, password) => ({ password }),
    sessionOnly: true,
  },
  { route: 'GET /api/v1/auth/me', success: 200, auth: 'developer' },
  {
    route: 'POST /api/v1/apps/create',
    success: 201,
    auth: 'developer',
    limit: 'appCreate',
    errors: { ...invalid, LIMIT_REACHED: 409 },
    body: () => ({ name: 'Another' }),
  },
  { route: 'GET /api/v1/apps/', success: 200, auth: 'developer', errors: invalid },
  { route: 'GET /api/v1/apps/:id', success: 200, auth: 'developer', id: 'app', errors: app },
  { route: 'GET /api/v1/apps/:id/sdk-hint', success: 200, auth: 'developer', id: 'app', errors: app },
  {
    route: 'DELETE /api/v1/apps/:id',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...confirmed },
  },
  {
    route: 'PATCH /api/v1/apps/:id/settings',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
    body: () => ({ version: '2' }),
  },
  {
    route: 'GET /api/v1/apps/:id/bans',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'DELETE /api/v1/apps/:id/bans/:banId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, BAN_NOT_FOUND: 404 },
  },
  {
    route: 'GET /api/v1/apps/:id/users',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/apps/:id/users',
    success: 201,
    auth: 'developer',
    id: 'app',
    errors: {
      ...app,
      ...invalid,
      ...license,
      LICENSE_REQUIRED: 400,
      USERNAME_TAKEN: 409,
      BANNED: 403,
      EXPIRED: 403,
      APP_MISMATCH: 403,
    },
    body: () => ({ username: 'another', password: 'a user password' }),
  },
  { route: 'GET /api/v1/apps/:id/users/export', success: 200, auth: 'developer', id: 'app', errors: app },
  {
    route: 'DELETE /api/v1/apps/:id/users/:userId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, USER_NOT_FOUND: 404 },
  },
  {
    route: 'POST /api/v1/apps/:id/users/:userId/reset-hwid',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, USER_NOT_FOUND: 404, HWID_NOT_SET: 400, LICENSE_BANNED: 400 },
  },
  {
    route: 'GET /api/v1/apps/:id/licenses',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/apps/:id/licenses/extend',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
    body: () => ({ seconds: 60 }),
  },
  {
    route: 'GET /api/v1/apps/:id/logs',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/licenses/create',
    success: 201,
    auth: 'developer',
    limit: 'licenseCreate',
    errors: { ...app, ...invalid, PRIVATE_MODE: 409 },
    appInBody: true,
    body: (ids) => ({ applicationId: ids.app, amount: 1, durationSeconds: 0 }),
  },
  {
    route: 'POST /api/v1/licenses/create-blind',
    success: 201,
    auth: 'developer',
    limit: 'blindCreate',
    errors: { ...app, ...invalid, KEY_EXISTS: 409 },
    appInBody: true,
    body: (ids) => ({
      applicationId: ids.app,
      keys: [{ licenseKeyHash: hash(), licenseKeyPrefix: 'KEY', durationSeconds: 0 }],
    }),
  },
  {
    route: 'POST /api/v1/licenses/:id/ban',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid, HWID_NOT_SET: 400, IP_NOT_KNOWN: 400 },
    body: () => ({ scope: 'hwid' }),
  },
  ...(['POST', 'PATCH'] as const).map((method) => ({
    route: `${method} /api/v1/licenses/:id/tier`,
    success: 200,
    auth: 'developer' as const,
    id: 'license' as const,
    errors: { ...license, ...invalid },
    body: () => ({ subscriptionTier: 3 }),
  })),
  {
    route: 'POST /api/v1/licenses/:id/reset-hwid',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, HWID_NOT_SET: 400, LICENSE_BANNED: 400 },
  },
  {
    route: 'POST /api/v1/apps/:id/licenses/bulk',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid, TOO_MANY: 400, SEARCH_TOO_BROAD: 400 },
    body: (ids) => ({ action: 'suspend', ids: [ids.license] }),
  },
  {
    route: 'GET /api/v1/apps/:id/policies',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid },
  },
  {
    route: 'POST /api/v1/apps/:id/policies',
    success: 201,
    auth: 'developer',
    id: 'app',
    errors: { ...app, ...invalid, POLICY_CODE_TAKEN: 409, LIMIT_REACHED: 409 },
    body: () => ({ code: 'basic', name: 'Basic' }),
  },
  {
    route: 'GET /api/v1/apps/:id/policies/:policyId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: policy,
  },
  {
    route: 'PATCH /api/v1/apps/:id/policies/:policyId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...policy, ...invalid, POLICY_CODE_TAKEN: 409 },
    body: () => ({ deviceLimit: 2 }),
  },
  {
    route: 'DELETE /api/v1/apps/:id/policies/:policyId',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: policy,
  },
  {
    route: 'POST /api/v1/apps/:id/policies/:policyId/apply',
    success: 200,
    auth: 'developer',
    id: 'app',
    errors: { ...policy, ...invalid, TOO_MANY: 400 },
    body: () => ({ dryRun: true }),
  },
  {
    route: 'GET /api/v1/webhooks',
    success: 200,
    auth: 'developer',
    errors: { ...invalid, TOO_MANY_READS: 429 },
  },
  {
    route: 'POST /api/v1/webhooks',
    success: 201,
    auth: 'developer',
    errors: { ...invalid, APP_NOT_FOUND: 404, LIMIT_REACHED: 409 },
    body: () => ({ url: 'https://hooks.example.com/', types: ['*'] }),
  },
  { route: 'GET /api/v1/webhooks/:id', success: 200, auth: 'developer', id: 'webhook', errors: webhook },
  {
    route: 'PATCH /api/v1/webhooks/:id',
    success: 200,
    auth: 'developer',
    id: 'webhook',
    errors: { ...webhook, ...invalid, APP_NOT_FOUND: 404 },
    body: () => ({ description: 'Shop' }),
  },
  { route: 'DELETE /api/v1/webhooks/:id', success: 200, auth: 'developer', id: 'webhook', errors: webhook },
  {
    route: 'POST /api/v1/webhooks/:id/test',
    success: 200,
    auth: 'developer',
    limit: 'webhookSend',
    id: 'webhook',
    errors: { ...webhook, TOO_MANY_DELIVERIES: 429 },
  },
  {
    route: 'POST /api/v1/webhooks/:id/rotate-secret',
    success: 200,
    auth: 'developer',
    id: 'webhook',
    errors: webhook,
  },
  {
    route: 'POST /api/v1/webhooks/:id/replay',
    success: 200,
    auth: 'developer',
    limit: 'webhookSend',
    id: 'webhook',
    errors: { ...webhook, ...invalid, INVALID_TRANSITION: 409, TOO_MANY: 400 },
    body: () => ({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  },
  {
    route: 'GET /api/v1/webhooks/:id/deliveries',
    success: 200,
    auth: 'developer',
    id: 'webhook',
    errors: { ...webhook, ...invalid },
  },
  {
    route: 'POST /api/v1/webhooks/:id/deliveries/:deliveryId/redeliver',
    success: 200,
    auth: 'developer',
    limit: 'webhookSend',
    id: 'webhook',
    errors: { ...webhook, DELIVERY_NOT_FOUND: 404, INVALID_TRANSITION: 409 },
  },
  { route: 'GET /api/v1/licenses/:id', success: 200, auth: 'developer', id: 'license', errors: license },
  {
    route: 'PATCH /api/v1/licenses/:id',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid, INVALID_TRANSITION: 409, PRIVATE_MODE: 409 },
    body: () => ({ deviceLimit: 2 }),
  },
  {
    route: 'POST /api/v1/licenses/:id/unban',
    success: 200,
    auth: 'developer',
    id: 'banned',
    errors: { ...license, INVALID_TRANSITION: 409 },
  },
  {
    route: 'POST /api/v1/licenses/:id/suspend',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, INVALID_TRANSITION: 409 },
  },
  {
    route: 'POST /api/v1/licenses/:id/reinstate',
    success: 200,
    auth: 'developer',
    id: 'suspended',
    errors: { ...license, INVALID_TRANSITION: 409 },
  },
  {
    route: 'POST /api/v1/licenses/:id/renew',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid, INVALID_TRANSITION: 409 },
    body: () => ({ seconds: 60, basis: 'from_expiry' }),
  },
  {
    route: 'POST /api/v1/licenses/:id/rotate-key',
    success: 200,
    auth: 'developer',
    limit: 'licenseCreate',
    id: 'license',
    errors: { ...license, ...invalid, PRIVATE_MODE: 409, KEY_EXISTS: 409 },
    body: () => ({ overlapSeconds: 60 }),
  },
  {
    route: 'GET /api/v1/licenses/:id/devices',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid },
  },
  {
    route: 'PATCH /api/v1/licenses/:id/devices/:deviceId',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, ...invalid, DEVICE_NOT_FOUND: 404 },
    body: () => ({ name: 'Laptop' }),
  },
  {
    route: 'DELETE /api/v1/licenses/:id/devices/:deviceId',
    success: 200,
    auth: 'developer',
    id: 'license',
    errors: { ...license, DEVICE_NOT_FOUND: 404, INVALID_TRANSITION: 409 },
  },
  {
    route: 'POST /api/v1/licenses/explain',
    success: 200,
    auth: 'developer',
    errors: {
      ...invalid,
      APP_NOT_FOUND: 404,
      LICENSE_NOT_FOUND: 404,
      LOG_ENTRY_NOT_FOUND: 404,
    },
    body: (ids) => ({ applicationId: ids.app, licenseId: ids.license }),
    appInBody: true,
  },
  {
    route: 'POST /api/v1/licenses/:id/offline-lease',
    success: 201,
    auth: 'developer',
    limit: 'licenseCreate',
    id: 'license',
    errors: {
      ...license,
      ...invalid,
      APP_MISMATCH: 403,
      BANNED: 403,
      EXPIRED: 403,
      HWID_MISMATCH: 403,
      HWID_BANNED: 403,
      LIMIT_REACHED: 409,
    },
    body: (ids) => ({ deviceRequest: deviceRequestOf(ids.app, 'device') }),
  },
  { route: 'DELETE /api/v1/licenses/:id', success: 200, auth: 'developer', id: 'license', errors: license },
  {
    route: 'POST /api/v1/session/init',
    success: 200,
    auth: 'public',
    limit: 'session',
    errors: { ...app, ...invalid, APP_DISABLED: 403, APP_OUTDATED: 403, IP_BANNED: 403 },
  },
  {
    route: 'POST /api/v1/licenses/validate',
    success: 200,
    auth: 'public',
    limit: 'validate',
    errors: sealedErrors,
  },
  ...['register', 'login', 'upgrade', 'devices/list', 'devices/release', 'devices/move'].map((verb) => ({
    route: `POST /api/v1/client/${verb}`,
    success: 200,
    auth: 'public' as const,
    limit: 'clientAuth' as const,
    errors: sealedErrors,
  })),
  { route: 'GET /api/v1/metrics/overview', success: 200, auth: 'developer' },
  {
    route: 'GET /api/v1/metrics/history',
    success: 200,
    auth: 'developer',
    errors: { ...invalid, ...app },
    query: '?period=day',
  },
  { route: 'GET /api/v1/events', success: 200, auth: 'developer' },
  {
    route: 'POST /api/v1/account/mask',
    success: 200,
    auth: 'developer',
    errors: invalid,
    body: () => ({ mask: null }),
  },
  {
    route: 'POST /api/v1/account/mode',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ mode: 'private', password }),
  },
  {
    route: 'POST /api/v1/account/vault',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ ...vault, password }),
  },
  {
    route: 'POST /api/v1/account/api-keys',
    success: 201,
    auth: 'developer',
    errors: { ...invalid, ...confirmed, APP_NOT_FOUND: 404, LIMIT_REACHED: 409 },
    body: () => ({ name: 'another' }),
  },
  { route: 'GET /api/v1/account/api-keys', success: 200, auth: 'developer', errors: invalid },
  {
    route: 'PATCH /api/v1/account/api-keys/:id',
    success: 200,
    auth: 'developer',
    id: 'key',
    errors: { ...invalid, API_KEY_NOT_FOUND: 404, INVALID_TRANSITION: 409 },
    body: () => ({ name: 'renamed' }),
  },
  {
    route: 'POST /api/v1/account/api-keys/:id/rotate',
    success: 200,
    auth: 'developer',
    id: 'key',
    errors: { ...invalid, API_KEY_NOT_FOUND: 404, INVALID_TRANSITION: 409 },
    body: () => ({ overlapSeconds: 60 }),
  },
  {
    route: 'POST /api/v1/account/api-keys/:id/revoke',
    success: 200,
    auth: 'developer',
    id: 'key',
    errors: { API_KEY_NOT_FOUND: 404 },
  },
  {
    route: 'PATCH /api/v1/account/profile',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, ...confirmed, EMAIL_TAKEN: 409 },
    body: (_ids, password) => ({ name: 'Ada', password }),
  },
  {
    route: 'GET /api/v1/account/sessions',
    success: 200,
    auth: 'developer',
    errors: { ...invalid, TOO_MANY_READS: 429 },
  },
  {
    route: 'DELETE /api/v1/account/sessions/:id',
    success: 200,
    auth: 'developer',
    id: 'session',
    errors: { SESSION_NOT_FOUND: 404 },
  },
  { route: 'POST /api/v1/account/sessions/revoke-others', success: 200, auth: 'developer' },
  { route: 'GET /api/v1/account/security', success: 200, auth: 'developer' },
  {
    route: 'POST /api/v1/account/require-confirmation',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, ...confirmed },
    body: (_ids, password) => ({ requireConfirmation: true, password }),
  },
  {
    route: 'POST /api/v1/account/totp/begin',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, INVALID_TRANSITION: 409 },
    body: (_ids, password) => ({ password }),
  },
  {
    route: 'POST /api/v1/account/totp/confirm',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, TOTP_INVALID: 401, INVALID_TRANSITION: 409 },
    prepare: seedPendingTotp,
    body: () => ({ totpCode: knownTotpCode() }),
  },
  {
    route: 'POST /api/v1/account/totp/recovery-codes',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, ...codes, INVALID_TRANSITION: 409 },
    prepare: seedTotp,
    body: (_ids, password) => ({ password, recoveryCode: knownRecoveryCode }),
  },
  {
    route: 'POST /api/v1/account/totp/disable',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong, ...codes, INVALID_TRANSITION: 409 },
    prepare: seedTotp,
    body: (_ids, password) => ({ password, recoveryCode: knownRecoveryCode }),
  },
  { route: 'GET /api/v1/account/export', success: 200, auth: 'developer', limit: 'accountSensitive' },
  {
    route: 'POST /api/v1/account/delete',
    success: 200,
    auth: 'developer',
    limit: 'accountSensitive',
    errors: { ...invalid, ...wrong },
    body: (_ids, password) => ({ confirm: 'DELETE', password }),
  },
];

/** Routes that are not in the interface document: pages, packages, GraphQL, protocol version 2, and a variant without a slash. */
const beside =
  /^(GET \/|GET \/health\/ready|GET \/api\/v1\/openapi\.json|GET \/docs(\/.*)?|GET \/packages\/.*|(GET|POST|OPTIONS) \/graphql|GET \/graphql\/.*|GET \/api\/v2\/(keys|revocations)\/:appId|POST \/api\/v2\/call|GET \/api\/v1\/apps)$/;

const dashboard = routes.filter(({ auth }) => auth === 'developer');
const methodOf = ({ route }: Route) => route.split(' ')[0] ?? '';
const isUnsafe = (row: Route) => methodOf(row) !== 'GET';
const pathOf = ({ route, id = 'app', query = '' }: Route, ids: Ids) =>
  `${route.split(' ')[1]}${query}`
    .replace(':id', ids[id])
    .replace(':userId', ids.user)
    .replace(':banId', ids.ban)
    .replace(':policyId', ids.policy)
    .replace(':deviceId', ids.device)
    .replace(':deliveryId', ids.delivery);
const send = (client: ApiClient, row: Route, ids: Ids, password = '') =>
  client.send(methodOf(row), pathOf(row, ids), row.body?.(ids, password));

let server: TestServer;
beforeAll(async () => {
  const rateLimits = Object.entries({ ...testLimits, apiKeyAuth: 100_000 }).map(
    ([name, n]) => `${name}=${n}`,
  );
  server = await startTestServer({ env: { RATE_LIMITS: rateLimits.join() } });
});
afterAll(() => server.close());

const missing: Ids = {
  app: missingId,
  license: missingId,
  banned: missingId,
  suspended: missingId,
  device: missingId,
  policy: missingId,
  user: missingId,
  ban: missingId,
  key: missingId,
  session: missingId,
  webhook: missingId,
  delivery: missingId,
};

interface FullAccount {
  readonly world: World;
  readonly ids: Ids;
  readonly apiKey: string;
}

/** A developer with one item of each kind. */
async function createFullAccount(): Promise<FullAccount> {
  const world = await createWorld(server);
  const { client } = world;
  const application = await world.createApplication();
  await application.settings({ requireLicenseToRegister: false });
  const minted = await application.mintOne({ durationSeconds: 3_600 });
  const spare = await application.mintOne();
  const created = await client.post(`/api/v1/apps/${application.id}/users`, {
    username: 'grace',
    password: 'a user password',
    licenseKey: minted.licenseKey,
  });
  const session = await openSession(server, application);
  await session.ask(validatePath, { licenseKey: minted.licenseKey, hwid: 'device' });
  await client.post(`/api/v1/licenses/${spare.id}/ban`, { scope: 'hwid_and_ip', ip: '203.0.113.1' });
  const suspended = await application.mintOne();
  await client.post(`/api/v1/licenses/${suspended.id}/suspend`, {});
  const policy = await client.post(`/api/v1/apps/${application.id}/policies`, { code: 'pro', name: 'Pro' });
  const devices = await client.get(`/api/v1/licenses/${minted.id}/devices`);
  const bans = await client.get(`/api/v1/apps/${application.id}/bans`);
  const key = await client.post('/api/v1/account/api-keys', { name: 'key' });
  await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
  const sessions = await client.get('/api/v1/account/sessions');
  const listed = expectSuccess(sessions, 200, sessionsAnswer).sessions;
  const { apiKey, id: keyId } = expectSuccess(key, 201, apiKeyAnswer).key;
  const webhook = await createWebhook(client, { url: 'https://hooks.example.com/', types: ['device.moved'] });
  const tested = await client.post(`/api/v1/webhooks/${webhook.id}/test`);
  const ids = {
    app: application.id,
    license: minted.id,
    banned: spare.id,
    suspended: suspended.id,
    device: expectSuccess(devices, 200, devicesAnswer).devices[0]?.id ?? '',
    policy: expectSuccess(policy, 201, policyAnswer).policy.id,
    user: expectSuccess(created, 201, userAnswer).user.id,
    ban: expectSuccess(bans, 200, bansAnswer).bans[0]?.id ?? '',
    key: keyId,
    session: listed.find(({ current }) => !current)?.id ?? '',
    webhook: webhook.id,
    delivery: z.object({ delivery: z.object({ id: z.string() }) }).parse(tested.body).delivery.id,
  };
  return { world, ids, apiKey };
}

const operation = z.object({
  responses: z.record(z.string(), z.unknown()),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-rate-limit': z.object({ name: z.string(), requests: z.int(), windowSeconds: z.int() }).optional(),
});
const document = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ responses: z.record(z.string(), z.unknown()).default({}) }),
});
const reference = z.object({ $ref: z.string() });

describe('the table of routes', () => {
  let documented: Map<string, z.infer<typeof operation>>;
  /** A response as text, or the shared response that it refers to. */
  let textOf: (response: unknown) => string;
  beforeAll(async () => {
    const { paths, components } = document.parse(
      (await new ApiClient(server.baseUrl).get('/api/v1/openapi.json')).body,
    );
    textOf = (response) => {
      const { data } = reference.safeParse(response);
      return JSON.stringify(data ? components.responses[data.$ref.split('/').at(-1) ?? ''] : response) ?? '';
    };
    documented = new Map(
      Object.entries(paths).flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, value]) => [
          `${method.toUpperCase()} /api/v1${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
          value,
        ]),
      ),
    );
  });

  test('has exactly the routes of the service', () => {
    const served = createApp(server.deps)
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !beside.test(route));
    const known = routes.map(({ route }) => route);
    expect([...new Set(served)].sort()).toEqual([...known].sort());
    const inDocument = known.filter((route) => route !== 'GET /health');
    expect([...documented.keys()].sort()).toEqual(inDocument.sort());
  });

  test.each(routes.filter(({ route }) => route !== 'GET /health'))(
    'agrees with the OpenAPI document: $route',
    (row) => {
      const found = documented.get(row.route);
      const responses = found?.responses ?? {};
      const successes = Object.keys(responses).filter((status) => status.startsWith('2'));
      expect(successes).toEqual([String(row.success)]);
      expect((found?.security ?? []).length > 0).toBe(row.auth === 'developer');
      expect(found?.['x-rate-limit']).toEqual(
        row.limit && { name: row.limit, requests: limits[row.limit], windowSeconds: 60 },
      );
      const expected = {
        ...row.errors,
        ...(row.auth === 'developer' && { UNAUTHENTICATED: 401, INSUFFICIENT_SCOPE: 403, RATE_LIMITED: 429 }),
        ...(row.auth === 'developer' && isUnsafe(row) && { FORBIDDEN: 403 }),
        ...(row.limit && { RATE_LIMITED: 429 }),
      };
      for (const [code, status] of Object.entries(expected)) {
        expect(textOf(responses[status]), code).toMatch(new RegExp(`\\b${code}\\b`));
      }
    },
  );

  test.each(routes)('$route counts towards exactly its documented limit', async (row) => {
    const answer = await send(new ApiClient(server.baseUrl), row, missing);
    const expected = row.limit === undefined ? null : String(testLimits[row.limit]);
    expect(answer.headers.get('ratelimit-limit')).toBe(expected);
  });
});

describe('a dashboard route', () => {
  let victim: FullAccount;
  let attacker: FullAccount;
  let revoked: string;
  let before: Record<string, unknown>;
  beforeAll(async () => {
    victim = await createFullAccount();
    attacker = await createFullAccount();
    const key = await victim.world.client.post('/api/v1/account/api-keys', { name: 'revoked' });
    const made = expectSuccess(key, 201, apiKeyAnswer).key;
    revoked = made.apiKey;
    await victim.world.client.post(`/api/v1/account/api-keys/${made.id}/revoke`);
    before = await databaseState(server);
  });

  /** A cookie with one changed character. */
  const tampered = (cookie: string, at: number) =>
    `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`;
  const cookieOfVictim = async () => {
    const { email, password } = victim.world.developer;
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
    return /service_session=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  };

  test.each(dashboard)('$route refuses unauthenticated requests, whatever the body', async (row) => {
    const { ids, world } = victim;
    const anonymous = new ApiClient(server.baseUrl);
    expectFailure(await send(anonymous, row, ids, world.developer.password), 401, 'UNAUTHENTICATED');
    expectFailure(await send(anonymous.with({ cookie: '' }), row, ids), 401, 'UNAUTHENTICATED');
    if (row.body === undefined) return;
    const answer = await anonymous.send(methodOf(row), pathOf(row, ids), { rubbish: true });
    expectFailure(answer, 401, 'UNAUTHENTICATED');
  });

  test.each(dashboard)('$route refuses a revoked key', async (row) => {
    const client = new ApiClient(server.baseUrl, { bearer: revoked });
    expectFailure(
      await send(client, row, victim.ids, victim.world.developer.password),
      401,
      'UNAUTHENTICATED',
    );
  });

  test('each refuses a tampered cookie', async () => {
    const cookie = await cookieOfVictim();
    const [head = '', claims = '', signature = ''] = cookie.split('.');
    const middle = head.length + 1 + Math.floor(claims.length / 2);
    const forged = [
      tampered(cookie, middle),
      tampered(cookie, head.length + claims.length + 2 + Math.floor(signature.length / 2)),
      `${head}.${claims}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`,
    ];
    for (const [index, row] of dashboard.entries()) {
      const client = new ApiClient(server.baseUrl, { cookie: forged[index % forged.length] ?? '' });
      expectFailure(
        await send(client, row, victim.ids, victim.world.developer.password),
        401,
        'UNAUTHENTICATED',
      );
    }
  });

  test.each(dashboard.filter(isUnsafe))('$route refuses the cookie from a foreign page', async (row) => {
    const { ids, world } = victim;
    for (const origin of ['https://evil.example', 'null']) {
      const client = world.client.with({ headers: { Origin: origin } });
      expectFailure(await send(client, row, ids, world.developer.password), 403, 'FORBIDDEN');
    }
  });

  test.each(dashboard.filter((row) => row.id !== undefined || row.appInBody))(
    '$route gives the same response for another developer’s data as for missing data',
    async (row) => {
      const { client, developer } = attacker.world;
      const none = await send(client, row, missing, developer.password);
      expect(none.status, JSON.stringify(none.body)).toBe(404);
      const foreign = await send(client, row, victim.ids, developer.password);
      expect({ status: foreign.status, body: foreign.body }).toEqual({ status: 404, body: none.body });
      const names = [...foreign.headers.keys()].filter(
        (name) => !/^(date|x-request-id|ratelimit)/.test(name),
      );
      expect(names).toEqual([...none.headers.keys()].filter((name) => names.includes(name)));
      if (!/:userId|:banId/.test(row.route)) return;
      const own = { app: attacker.ids.app };
      const throughOwn = await send(client, row, { ...victim.ids, ...own });
      const noneOfOwn = await send(client, row, { ...missing, ...own });
      expect(throughOwn.status).toBe(404);
      expect(throughOwn.body).toEqual(noneOfOwn.body);
    },
  );

  test.each(dashboard.filter((row) => !isUnsafe(row) && row.id === undefined))(
    '$route shows no data of another developer',
    async (row) => {
      const answer = await send(attacker.world.client, row, attacker.ids);
      expect(answer.status).toBe(200);
      const text = JSON.stringify(answer.body);
      for (const id of [victim.world.developer.id, ...Object.values(victim.ids)])
        expect(text).not.toContain(id);
    },
  );

  test('none of these requests has changed data of the victim', async () => {
    const after = await databaseState(server);
    const ofVictim = (state: Record<string, unknown>, table: string) =>
      z
        .array(z.looseObject({ id: z.string(), event: z.string().optional() }))
        .parse(state[table])
        .filter((row) =>
          [victim.world.developer.id, victim.ids.app].some((id) => JSON.stringify(row).includes(id)),
        )
        // The test itself logs in.
        .filter(({ event }) => event !== 'developer_logged_in');
    for (const table of [
      'developers',
      'applications',
      'licenses',
      'end_users',
      'bans',
      'api_keys',
      'security_log',
    ]) {
      const rows = ofVictim(before, table);
      expect(rows.length, table).toBeGreaterThan(0);
      expect(ofVictim(after, table), table).toEqual(rows);
    }
  });

  test.each(dashboard)(
    '$route accepts an API key from any page, unless it is about the session',
    async (row) => {
      const { world, ids, apiKey } = await createFullAccount();
      const client = new ApiClient(server.baseUrl, {
        bearer: apiKey,
        headers: { Origin: 'https://elsewhere.example' },
      });
      await row.prepare?.(server, world.developer.id);
      const answer = await send(client, row, ids, world.developer.password);
      if (row.sessionOnly) {
        expectFailure(answer, 403, 'FORBIDDEN');
        return;
      }
      expect(answer.status, JSON.stringify(answer.body)).toBe(row.success);
      expect(answer.body).toMatchObject({ success: true });
    },
  );
});

test('the public routes need no credential', async () => {
  const visitor = new ApiClient(server.baseUrl);
  expect(await visitor.get('/health')).toMatchObject({ status: 200, body: { ok: true } });
  expect((await visitor.post('/api/v1/auth/logout')).status).toBe(200);
  const world = await createWorld(server);
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const higher = await application.mintOne({ subscriptionTier: 1 });
  const session = await openSession(server, application);
  const user = { username: 'grace', password: 'a user password' };
  expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  expect(await session.ask('/api/v1/client/register', { ...user, licenseKey })).toMatchObject({ code: 'OK' });
  expect(await session.ask('/api/v1/client/login', user)).toMatchObject({ code: 'OK' });
  expect(
    await session.ask('/api/v1/client/upgrade', { username: 'grace', licenseKey: higher.licenseKey }),
  ).toMatchObject({ code: 'OK' });
});

test('an API key does not authenticate in the client protocol', async () => {
  const { apiKey, world } = await createFullAccount();
  const client = world.client.with({ bearer: apiKey });
  for (const path of ['/licenses/validate', '/client/register', '/client/login', '/client/upgrade']) {
    const answer = await client.post(`/api/v1${path}`, { licenseKey: 'x', username: 'grace' });
    expectFailure(answer, 400, 'CRYPTO_REQUIRED');
  }
});
