import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiClient, randomIp } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { openSession } from '../setup/sealed-client.ts';
import { totpCodeOf } from '../setup/second-factor.ts';
import { useServer } from '../setup/use-world.ts';
import { allowLoopback, startReceiver } from '../setup/webhook-receiver.ts';
import { answerSchema, faultsOf, requestSchema, routes } from './contract.ts';
import {
  createClient,
  OPERATIONS,
  type OperationId,
  type OperationPath,
  type OperationTag,
  type Ops,
  type Result,
} from './generated/client.ts';

const server = useServer({ env: allowLoopback });

/** What one call sent and got. */
interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly status: number;
  readonly got: unknown;
  readonly headers: Headers;
}
const exchanges: Exchange[] = [];
const password = 'correct horse battery staple';

/** The client that is generated from openapi.json, from an address of its own; it keeps what it saw. */
function integrator() {
  const ip = randomIp();
  return createClient<Ops, OperationId, OperationPath, OperationTag>(OPERATIONS, {
    serverUrl: `${server.baseUrl}/api/v1`,
    errorMode: 'result',
    headers: { 'X-Forwarded-For': ip },
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      const { pathname } = new URL(String(input));
      exchanges.push({
        method: init?.method ?? 'GET',
        path: pathname.replace('/api/v1', ''),
        sent: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
        status: answer.status,
        got: await answer.clone().json(),
        headers: answer.headers,
      });
      return answer;
    },
  });
}

/** The data of a call that has to succeed. */
async function good<Data, Failure>(call: Promise<Result<Data, Failure>>): Promise<Data> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** The code of a call that has to fail. */
async function code<Data, Failure extends { code: string }>(call: Promise<Result<Data, Failure>>) {
  const { data, error } = await call;
  if (error === undefined) throw new Error(`succeeded: ${JSON.stringify(data)}`);
  return error.code;
}

/** A developer who has just registered, logged in by cookie. */
async function developer(email: string) {
  const api = integrator();
  const { response } = await api.registerDeveloper({ body: { email, password, name: 'Ada' } });
  const cookie = /^service_session=([^;]*)/.exec(response.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  expect(cookie).not.toBe('');
  api.auth.apiKey('sessionCookie', cookie);
  return api;
}

describe('with the client that is generated from openapi.json', () => {
  test('a developer sells licenses, looks after them, and leaves', async () => {
    const api = await developer('ada@example.com');
    expect((await good(api.getCurrentDeveloper())).developer.name).toBe('Ada');
    const { application, sdkHint } = await good(api.createApplication({ body: { name: 'Photo Lab' } }));
    const path = { id: application.id };
    expect(sdkHint.appId).toBe(application.id);
    await good(
      api.updateApplicationSettings({ path, body: { responseMessages: { EXPIRED: 'Renew it, please.' } } }),
    );
    expect((await good(api.getSdkHint({ path }))).sdkHint).toMatchObject({ appId: path.id, protocol: 2 });
    expect((await good(api.getApplication({ path }))).application.responseMessages.EXPIRED).toBe(
      'Renew it, please.',
    );
    expect((await good(api.listApplications())).applications).toHaveLength(1);

    const order = { applicationId: application.id, amount: 5, durationSeconds: 3600, subscriptionTier: 1 };
    const { keys } = await good(api.createLicenses({ body: order }));
    const blind = {
      licenseKeyHash: createHash('sha256').update('MADE-IN-THE-BROWSER').digest('hex'),
      licenseKeyPrefix: 'MADE-',
      durationSeconds: 0,
    };
    await good(api.createBlindLicenses({ body: { applicationId: application.id, keys: [blind] } }));
    const again = api.createBlindLicenses({ body: { applicationId: application.id, keys: [blind] } });
    expect(await code(again)).toBe('KEY_EXISTS');
    const seen = [];
    for (let cursor: string | undefined; ; ) {
      const page = await good(
        api.listLicenses({ path, query: { limit: 4, ...(cursor !== undefined && { cursor }) } }),
      );
      seen.push(...page.licenses);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(6);

    const [first, second, third] = keys;
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few keys');
    const client = integrator();
    const session = await openSession(server, application);
    const sealed = session.seal(session.inner({ licenseKey: first.licenseKey, hwid: 'laptop' }));
    const { data, response } = await client.validateLicense({ body: sealed });
    expect(session.open({ status: response.status, headers: response.headers, body: data })).toMatchObject({
      code: 'OK',
    });
    expect(await code(client.validateLicense({ body: sealed }))).toBe('REPLAY');
    const account = { username: 'grace', password };
    for (const [call, inner] of [
      [client.registerEndUser, { ...account, licenseKey: second.licenseKey }],
      [client.loginEndUser, account],
      [client.upgradeEndUser, { username: 'grace', licenseKey: third.licenseKey }],
      [client.listOwnDevices, account],
      [client.releaseOwnDevice, { ...account, deviceId: application.id }],
      [client.moveOwnDevice, { ...account, hwid: 'laptop' }],
    ] as const) {
      await good(call({ body: session.seal(session.inner(inner)) }));
    }
    const hello = { clientNonceB64: Buffer.alloc(32, 1).toString('base64'), clientVersion: '1.0.0' };
    await good(client.initSession({ body: { ...hello, appId: application.id } }));
    const outdated = client.initSession({ body: { ...hello, appId: application.id, clientVersion: '0' } });
    expect(await code(outdated)).toBe('APP_OUTDATED');

    expect((await good(api.extendLicenses({ path, body: { seconds: 60 } }))).extended).toBeGreaterThan(0);
    const license = { id: first.id };
    await good(api.setLicenseTier({ path: license, body: { subscriptionTier: 2 } }));
    await good(api.setLicenseTierByPost({ path: license, body: { subscriptionTier: 3 } }));
    await good(api.updateLicense({ path: license, body: { graceSeconds: 60, tags: ['reseller'] } }));
    await good(api.suspendLicense({ path: license, body: { reason: 'unpaid', stopClock: true } }));
    expect((await good(api.getLicense({ path: license }))).license.status).toBe('suspended');
    await good(api.reinstateLicense({ path: license }));
    await good(api.renewLicense({ path: license, body: { seconds: 60, basis: 'from_expiry' } }));
    const rotated = await good(api.rotateLicenseKey({ path: license, body: { overlapSeconds: 60 } }));
    expect(rotated.licenseKey).not.toBe(first.licenseKey);
    await good(api.resetLicenseHwid({ path: license }));
    const bind = session.seal(session.inner({ licenseKey: second.licenseKey, hwid: 'laptop' }));
    await good(client.validateLicense({ body: bind }));
    const { devices } = await good(api.listDevices({ path: { id: second.id } }));
    const device = { id: second.id, deviceId: devices[0]?.id ?? '' };
    await good(api.renameDevice({ path: device, body: { name: 'Laptop' } }));
    expect((await good(api.releaseDevice({ path: device }))).device.state).toBe('released');
    const { policy } = await good(api.createPolicy({ path, body: { code: 'pro', name: 'Pro' } }));
    const ofPolicy = { ...path, policyId: policy.id };
    expect((await good(api.listPolicies({ path }))).policies).toHaveLength(1);
    await good(api.updatePolicy({ path: ofPolicy, body: { deviceLimit: 2 } }));
    expect((await good(api.getPolicy({ path: ofPolicy }))).policy.deviceLimit).toBe(2);
    await good(api.applyPolicy({ path: ofPolicy, body: { ids: [second.id] } }));
    await good(api.deletePolicy({ path: ofPolicy }));
    const tagged = { action: 'addTags' as const, ids: [second.id], params: { tags: ['bulk'] } };
    expect((await good(api.bulkLicenses({ path, body: tagged }))).changed).toBe(1);
    const asked = { applicationId: application.id, licenseId: first.id };
    expect((await good(api.explainLicense({ body: asked }))).code).toBe('OK');
    const deviceRequest = deviceRequestOf(application.id, 'a laptop without a network');
    await good(api.issueOfflineLease({ path: license, body: { deviceRequest } }));
    await good(api.resetLicenseHwid({ path: license }));
    expect(await code(api.resetLicenseHwid({ path: license }))).toBe('HWID_NOT_SET');
    const banned = await good(
      api.banLicense({ path: license, body: { scope: 'hwid_and_ip', ip: '192.0.2.7' } }),
    );
    expect(banned.license.status).toBe('banned');
    expect((await good(api.unbanLicense({ path: license, body: {} }))).license.status).toBe('active');
    await good(api.banLicense({ path: license, body: {} }));
    const { bans } = await good(api.listBans({ path }));
    expect(bans).toMatchObject([{ banType: 'ip', value: '192.0.2.7' }]);
    await good(api.deleteBan({ path: { ...path, banId: bans[0]?.id ?? '' } }));

    const { user } = await good(
      api.createEndUser({
        path,
        body: {
          username: 'linus',
          password,
          email: 'linus@example.com',
          licenseKey: keys[3]?.licenseKey ?? '',
        },
      }),
    );
    const taken = api.createEndUser({
      path,
      body: { username: 'linus', password, licenseKey: keys[3]?.licenseKey ?? '' },
    });
    expect(await code(taken)).toBe('USERNAME_TAKEN');
    const { users } = await good(api.listEndUsers({ path, query: { q: 'LIN' } }));
    expect(users.map(({ id }) => id)).toEqual([user.id]);
    const grace = (await good(api.listEndUsers({ path, query: { q: 'grace' } }))).users[0];
    await good(api.loginDeveloper({ body: { email: 'ada@example.com', password } }));
    expect(await code(api.resetEndUserHwid({ path: { ...path, userId: user.id } }))).toBe('HWID_NOT_SET');
    const bound = session.seal(session.inner({ ...account, hwid: 'desktop' }));
    await good(client.loginEndUser({ body: bound }));
    await good(api.resetEndUserHwid({ path: { ...path, userId: grace?.id ?? '' } }));
    expect((await good(api.exportEndUsers({ path }))).export.users).toHaveLength(2);
    await good(api.deleteEndUser({ path: { ...path, userId: user.id } }));

    await server.deps.services.securityLog.flush();
    const { logs } = await good(api.listSecurityLog({ path, query: { q: 'license_validated' } }));
    expect(logs).toMatchObject([
      { code: 'OK', licenseId: second.id, hwid: 'laptop' },
      { code: 'OK', licenseId: first.id, hwid: 'laptop' },
    ]);
    const { events } = await good(api.listEvents({ query: { types: 'license.banned', limit: 1 } }));
    expect(events).toMatchObject([{ type: 'license.banned', subject: { kind: 'license' } }]);
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const { webhook } = await good(api.createWebhook({ body: { url: receiver.url(), types: ['*'] } }));
    const hook = { id: webhook.id };
    expect((await good(api.listWebhooks())).webhooks).toHaveLength(1);
    await good(api.updateWebhook({ path: hook, body: { description: 'Shop' } }));
    expect((await good(api.getWebhook({ path: hook }))).webhook.description).toBe('Shop');
    const { delivery } = await good(api.testWebhook({ path: hook }));
    expect(delivery).toMatchObject({ status: 'succeeded', statusCode: 200 });
    const found = await good(api.listWebhookDeliveries({ path: hook, query: { status: 'succeeded' } }));
    expect(found.deliveries.map(({ id }) => id)).toContain(delivery.id);
    await good(api.redeliverWebhookDelivery({ path: { ...hook, deliveryId: delivery.id } }));
    expect((await good(api.rotateWebhookSecret({ path: hook }))).secret).toMatch(/^whsec_/);
    const period = { from: webhook.createdAt, to: '2100-01-01T00:00:00.000Z' };
    await good(api.replayWebhook({ path: hook, body: period }));
    const { webhooks } = (await good(api.exportAccount())).export;
    expect(webhooks).toMatchObject([{ ...hook, description: 'Shop' }]);
    await good(api.deleteWebhook({ path: hook }));

    const { metrics } = await good(api.getMetrics());
    expect(metrics.licenses).toMatchObject({ total: 6, banned: 1 });
    expect(metrics.validations24h.byCode).toEqual({ OK: 2 });
    const { history } = await good(api.getMetricsHistory({ query: { period: 'day' } }));
    expect(history.licenses).toEqual(metrics.licenses);

    const { key } = await good(api.createApiKey({ body: { name: 'Shop' } }));
    const shop = integrator();
    shop.auth.bearer(key.apiKey);
    await good(shop.deleteLicense({ path: license }));
    expect((await good(shop.listApiKeys())).keys).toMatchObject([{ id: key.id, revoked: false }]);
    const { key: changed } = await good(
      api.updateApiKey({ path: { id: key.id }, body: { scopes: ['account:*'], expiresAt: null } }),
    );
    expect(changed.scopes).toEqual(['account:read', 'account:write']);
    const { key: renewed } = await good(
      api.rotateApiKey({ path: { id: key.id }, body: { overlapSeconds: 0 } }),
    );
    expect(renewed).toMatchObject({ id: key.id, previousValidUntil: expect.any(String) });
    await good(api.revokeApiKey({ path: { id: key.id } }));
    expect(await code(shop.listApplications())).toBe('UNAUTHENTICATED');

    await good(api.setLicenseMask({ body: { mask: 'LAB-XXXXX-XXXXX-XXXXX' } }));
    const salt = Buffer.alloc(16, 1).toString('base64');
    await good(api.setVault({ body: { vaultSaltB64: salt, vaultCheckB64: salt, password } }));
    expect((await good(api.setKeyCreationMode({ body: { mode: 'private', password } }))).mode).toBe(
      'private',
    );
    expect(await code(api.createLicenses({ body: order }))).toBe('PRIVATE_MODE');
    const renamed = await good(api.updateProfile({ body: { name: 'Ada Lovelace', password } }));
    expect(renamed.developer.name).toBe('Ada Lovelace');
    expect((await good(api.exportAccount())).export.licenses).toHaveLength(5);

    const { secret } = await good(api.beginTotp({ body: { password } }));
    const freshCode = () => {
      server.clock.step(30);
      return totpCodeOf(secret, server.clock.now());
    };
    await good(api.confirmTotp({ body: { totpCode: freshCode() } }));
    expect(await code(api.deleteApplication({ path }))).toBe('CONFIRMATION_REQUIRED');
    await good(api.confirmSession({ body: { password, totpCode: freshCode() } }));
    const renewal = { password, totpCode: freshCode() };
    const [recoveryCode = ''] = (await good(api.renewRecoveryCodes({ body: renewal }))).recoveryCodes;
    expect((await good(api.getAccountSecurity())).security).toMatchObject({ recoveryCodesLeft: 10 });
    await good(api.disableTotp({ body: { password, recoveryCode } }));
    await good(api.setRequireConfirmation({ body: { requireConfirmation: true, password } }));
    await good(integrator().loginDeveloper({ body: { email: 'ada@example.com', password } }));
    const { sessions } = await good(api.listSessions());
    const other = sessions.find(({ current }) => !current)?.id ?? '';
    await good(api.revokeSession({ path: { id: other } }));
    expect((await good(api.revokeOtherSessions())).success).toBe(true);

    await good(api.deleteApplication({ path }));
    expect(await code(api.getApplication({ path }))).toBe('APP_NOT_FOUND');
    await good(api.logoutDeveloper());
    await good(api.deleteAccount({ body: { password, confirm: 'DELETE' } }));
    expect(await code(api.getCurrentDeveloper())).toBe('UNAUTHENTICATED');
  });

  test('every operation of the document was called with success', () => {
    const called = exchanges
      .filter(({ status }) => status < 300)
      .map((exchange) => routeOf(exchange).operationId);
    expect([...new Set(called)].sort()).toEqual(routes.map(({ operationId }) => operationId).sort());
  });

  test('every body that was sent or answered is as the document says', () => {
    for (const exchange of exchanges) {
      const route = routeOf(exchange);
      const what = `${route.operationId} ${exchange.status} ${JSON.stringify(exchange.got)}`;
      if (exchange.sent !== undefined)
        expect(faultsOf(exchange.sent, requestSchema(route)), what).toEqual([]);
      const schema = answerSchema(route, exchange.status);
      if (schema === undefined) throw new Error(`undocumented: ${what}`);
      expect(faultsOf(exchange.got, schema), what).toEqual([]);
    }
  });

  test("an answer has the limit's header fields where the document says so, and nowhere else", () => {
    for (const exchange of exchanges.filter(({ status }) => status < 300)) {
      const route = routeOf(exchange);
      const documented = Object.keys(route.responses[exchange.status]?.headers ?? {});
      const names = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
      const sent = names.filter((name) => exchange.headers.has(name));
      expect(sent, route.operationId).toEqual(documented.filter((name) => names.includes(name)));
    }
  });
});

test('a refusal for too many requests is as the document says', async () => {
  const visitor = new ApiClient(server.baseUrl);
  const route = routes.find(({ operationId }) => operationId === 'initSession');
  if (route === undefined) throw new Error('the document has no initSession');
  for (let request = 0; request < 60; request++) await visitor.post('/api/v1/session/init', {});
  const refused = await visitor.post('/api/v1/session/init', {});
  expect(refused.status).toBe(429);
  expect(faultsOf(refused.body, answerSchema(route, 429) ?? '')).toEqual([]);
  for (const name of ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After']) {
    expect(refused.headers.get(name), name).toMatch(/^\d+$/);
  }
});

/** The documented route that a call took: the one with the fewest parameters, as routers prefer. */
function routeOf({ method, path }: Exchange) {
  const fitting = routes.filter(
    (route) =>
      route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  const [best] = fitting.sort((one, other) => one.path.split('{').length - other.path.split('{').length);
  if (best === undefined) throw new Error(`${method} ${path} is no route of the document`);
  return best;
}
