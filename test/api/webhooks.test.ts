import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { claimDue } from '../../src/services/webhook/claim.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import {
  allowLoopback,
  createWebhook,
  type Receiver,
  startReceiver,
  verify,
} from '../setup/webhook-receiver.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { expectFailure, expectIssue, expectSuccess, noLimits, strictWebhook } from './support.ts';

const server = useServer({ env: { ...noLimits, ...allowLoopback } });
const world: World = forTest(() => createWorld(server));
const patient = { timeout: 20_000, interval: 10 };

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

let path: string;
let application: SeededApplication;
beforeEach(async () => {
  path = `/${crypto.randomUUID()}`;
  application = await world.createApplication();
});

const strictDelivery = z.strictObject({
  id: z.string(),
  webhookId: z.string(),
  eventId: z.string(),
  eventType: z.string(),
  status: z.enum(['pending', 'succeeded', 'failed']),
  attempts: z.int(),
  nextAttemptAt: z.iso.datetime().nullable(),
  lastAttemptAt: z.iso.datetime().nullable(),
  latencyMilliseconds: z.int().nullable(),
  statusCode: z.int().nullable(),
  answer: z.string().nullable(),
  error: z.string().nullable(),
  createdAt: z.iso.datetime(),
});
const done = z.literal(true);
const webhookAnswer = z.strictObject({ success: done, webhook: strictWebhook });
const secretAnswer = webhookAnswer.extend({ secret: z.string(), warning: z.string() });
const webhooksAnswer = z.strictObject({
  success: done,
  webhooks: z.array(strictWebhook),
  nextCursor: z.string().nullable(),
});
const deliveryAnswer = z.strictObject({ success: done, delivery: strictDelivery });
const deliveriesAnswer = z.strictObject({
  success: done,
  deliveries: z.array(strictDelivery),
  nextCursor: z.string().nullable(),
});

const root = '/api/v1/webhooks';
const read = async (id: string) =>
  expectSuccess(await world.client.get(`${root}/${id}`), 200, webhookAnswer).webhook;
const deliveriesOf = async (id: string, query = '') =>
  expectSuccess(await world.client.get(`${root}/${id}/deliveries${query}`), 200, deliveriesAnswer).deliveries;
const update = (id: string, change: object) => world.client.patch(`${root}/${id}`, change);
/** A webhook at the test's own path of the receiver. */
const create = (fields: object = {}) => createWebhook(world.client, { url: receiver.url(path), ...fields });
const typesAt = (at = path) => receiver.at(at).map(({ event }) => event.type);
const arrived = (types: readonly string[], at = path) =>
  vi.waitFor(() => expect(typesAt(at).toSorted()).toEqual(types.toSorted()), patient);
/** An event of the type `application.changed`. */
const change = (of = application) => of.settings({ version: crypto.randomUUID() });
const changed = { types: ['application.changed'] };
const settled = (id: string) =>
  vi.waitFor(async () => {
    expect((await deliveriesOf(id)).map(({ status }) => status)).not.toContain('pending');
  }, patient);
const log = async () => {
  const { body } = await world.client.get(`/api/v1/account/export`);
  return z
    .object({ export: z.object({ securityLog: z.array(z.looseObject({ event: z.string() })) }) })
    .parse(body)
    .export.securityLog.map(({ event }) => event);
};

describe('a webhook', () => {
  test('is created with a secret that is shown only then', async () => {
    const input = {
      url: 'https://example.com/hook?a=b',
      types: ['license.*', 'device.moved'],
      description: 'Shop',
    };
    const answer = await world.client.post(root, input);
    const { webhook, secret } = expectSuccess(answer, 201, secretAnswer);
    expect(webhook).toMatchObject({ ...input, enabled: true, applicationId: null, disabledAt: null });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = expectSuccess(await world.client.get(root), 200, webhooksAnswer);
    expect(listed.webhooks).toEqual([webhook]);
    expect(await read(webhook.id)).toEqual(webhook);
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const [stored] = await sql<{ row: string }>(
      server,
      "SELECT webhooks::text || encode(secrets_encrypted, 'hex') AS row FROM webhooks WHERE id = $1",
      [webhook.id],
    );
    expect(stored?.row).not.toContain(bytes.toString('hex'));
    expect(server.logLines.join('')).not.toContain(secret);
  });

  test.each([
    ['http://example.com/', 'url'],
    ['https://10.0.0.1/', 'url'],
    ['https://user:password@example.com/', 'url'],
    ['https://example.com/#x', 'url'],
    [`https://example.com/${'x'.repeat(2_048)}`, 'url'],
  ])('has no URL such as %.40s', async (url, field) => {
    expectIssue(await world.client.post(root, { url, types: ['*'] }), field);
    const { id } = await create();
    expectIssue(await update(id, { url }), field);
  });

  test.each([
    { types: [] },
    { types: ['license.unknown'] },
    { types: ['nothing.*'] },
    { types: ['license.banned', 'license.banned'] },
    { types: ['**'] },
    { types: 'license.*' },
  ])('has no types such as %j', async (fields) => {
    expectIssue(await world.client.post(root, { url: 'https://example.com/', ...fields }), 'types');
  });

  test("cannot be of another developer's application", async () => {
    const other = await (await createWorld(server)).createApplication();
    const answer = await world.client.post(root, {
      url: receiver.url(path),
      types: ['*'],
      applicationId: other.id,
    });
    expectFailure(answer, 404, 'APP_NOT_FOUND');
    const { id } = await create();
    expectFailure(await update(id, { applicationId: other.id }), 404, 'APP_NOT_FOUND');
  });

  test('is changed, and deleted with its deliveries', async () => {
    const { id } = await create();
    await world.client.post(`${root}/${id}/test`);
    const { webhook } = expectSuccess(
      await update(id, { ...changed, description: 'New' }),
      200,
      webhookAnswer,
    );
    expect(webhook).toMatchObject({ ...changed, description: 'New', url: receiver.url(path) });
    expectIssue(await update(id, { unknown: 1 }), 'unknown');
    expectFailure(await update(id, {}), 400, 'VALIDATION_FAILED');
    expect((await world.client.delete(`${root}/${id}`)).status).toBe(200);
    for (const answer of [
      await world.client.get(`${root}/${id}`),
      await world.client.get(`${root}/${id}/deliveries`),
      await update(id, { description: '' }),
      await world.client.delete(`${root}/${id}`),
    ]) {
      expectFailure(answer, 404, 'WEBHOOK_NOT_FOUND');
    }
    expect(await sql(server, 'SELECT FROM webhook_deliveries WHERE webhook_id = $1', [id])).toEqual([]);
    expect(await log()).toEqual(
      expect.arrayContaining(['webhook_created', 'webhook_changed', 'webhook_deleted']),
    );
  });

  test('of another developer does not exist', async () => {
    const { id } = await create();
    const test = expectSuccess(await world.client.post(`${root}/${id}/test`), 200, deliveryAnswer);
    const other = (await createWorld(server)).client;
    const refused: readonly ApiAnswer[] = [
      await other.get(`${root}/${id}`),
      await other.patch(`${root}/${id}`, { description: '' }),
      await other.delete(`${root}/${id}`),
      await other.post(`${root}/${id}/test`),
      await other.post(`${root}/${id}/rotate-secret`),
      await other.post(`${root}/${id}/replay`, { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
      await other.get(`${root}/${id}/deliveries`),
      await other.post(`${root}/${id}/deliveries/${test.delivery.id}/redeliver`),
    ];
    for (const answer of refused) expectFailure(answer, 404, 'WEBHOOK_NOT_FOUND');
    const own = await createWebhook(other, { url: receiver.url(path) });
    expectFailure(
      await other.post(`${root}/${own.id}/deliveries/${test.delivery.id}/redeliver`),
      404,
      'DELIVERY_NOT_FOUND',
    );
  });

  test('is one of at most as many as the operator allows, however many are created at once', async () => {
    const strict = await startTestServer({ env: { ...noLimits, COUNT_LIMITS: 'webhooks=3' } });
    try {
      const { client } = await createWorld(strict);
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => client.post(root, { url: 'https://example.com/', types: ['*'] })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
    } finally {
      await strict.close();
    }
  });
});

describe('an event', () => {
  test('is sent signed, with its envelope, to the webhooks that want it', async () => {
    const { id, secret } = await create(changed);
    await create({ types: ['license.*'], url: receiver.url(`${path}-licenses`) });
    await create({ applicationId: (await world.createApplication()).id, url: receiver.url(`${path}-other`) });
    await change();
    await application.mintOne();
    await arrived(['application.changed']);
    await arrived(['license.created'], `${path}-licenses`);
    const [received] = receiver.at(path);
    if (received === undefined) throw new Error('nothing was received');
    expect(verify(secret, received)).toEqual(received.event);
    expect(received.headers).toMatchObject({
      'webhook-id': received.event.id,
      'content-type': 'application/json',
    });
    expect(received.event).toMatchObject({
      applicationId: application.id,
      subject: { kind: 'application', id: application.id },
    });
    await settled(id);
    expect(await deliveriesOf(id)).toEqual([
      expect.objectContaining({
        eventId: received.event.id,
        eventType: 'application.changed',
        status: 'succeeded',
        attempts: 1,
        statusCode: 200,
        answer: 'thank you',
        error: null,
        nextAttemptAt: null,
      }),
    ]);
    expect(typesAt(`${path}-other`)).toEqual([]);
  });

  test('from before the webhook is not sent', async () => {
    await change();
    const { id } = await create(changed);
    await change();
    await arrived(['application.changed']);
    expect(await deliveriesOf(id)).toHaveLength(1);
  });

  test('that no receiver accepted is sent again at the times of the schedule, with the same id', async () => {
    receiver.respond(path, 500);
    const { id, secret } = await create(changed);
    await change();
    await vi.waitFor(async () => {
      expect((await deliveriesOf(id))[0]).toMatchObject({
        status: 'pending',
        attempts: 1,
        statusCode: 500,
        error: 'The host answered with the status 500.',
      });
    }, patient);
    const [delivery] = await deliveriesOf(id);
    const [{ lastAttemptAt = null, nextAttemptAt = null } = {}] = [delivery];
    const wait = Date.parse(nextAttemptAt ?? '') - Date.parse(lastAttemptAt ?? '');
    expect(wait).toBeGreaterThanOrEqual(5_000);
    expect(wait).toBeLessThan(10_000);
    expect((await read(id)).failingSince).not.toBeNull();
    receiver.respond(path, 204);
    server.clock.step(10);
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
    const [first, second] = receiver.at(path).map((received) => verify(secret, received));
    expect(second).toEqual(first);
    await settled(id);
    expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'succeeded', attempts: 2, statusCode: 204 });
    expect(await read(id)).toMatchObject({ failingSince: null, enabled: true });
  });

  test('is sent again no earlier than Retry-After asks, and at most a day later', async () => {
    receiver.respond(path, (response) => response.writeHead(429, { 'retry-after': '3600' }).end());
    const { id } = await create(changed);
    await change();
    const waits = () =>
      vi.waitFor(async () => {
        const [delivery] = await deliveriesOf(id);
        if (delivery?.statusCode !== 429) throw new Error('there was no attempt yet');
        return Date.parse(delivery.nextAttemptAt ?? '') - Date.parse(delivery.lastAttemptAt ?? '');
      }, patient);
    const hour = 3_600_000;
    expect(await waits()).toBeGreaterThanOrEqual(hour);
    expect(await waits()).toBeLessThan(2 * hour);
  });

  test('is not sent where a redirect leads', async () => {
    receiver.respond(path, (response) =>
      response.writeHead(302, { location: receiver.url(`${path}-elsewhere`) }).end(),
    );
    const { id } = await create(changed);
    await change();
    await vi.waitFor(async () => {
      expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'pending', statusCode: 302 });
    }, patient);
    expect(typesAt(`${path}-elsewhere`)).toEqual([]);
  });
});

describe('a rotated secret', () => {
  test('signs beside the old one for 24 hours, and alone from then on', async () => {
    const { id, secret: old } = await create(changed);
    await change();
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(1), patient);
    const rotated = expectSuccess(await world.client.post(`${root}/${id}/rotate-secret`), 200, secretAnswer);
    expect(rotated.secret).not.toBe(old);
    expect(rotated.webhook.previousSecretUntil).not.toBeNull();
    await change();
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
    server.clock.step(86_400);
    await change();
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(3), patient);
    const verdicts = receiver.at(path).map((received) =>
      [old, rotated.secret].map((secret) => {
        try {
          verify(secret, received);
          return true;
        } catch {
          return false;
        }
      }),
    );
    expect(verdicts).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
    expect(await log()).toContain('webhook_secret_rotated');
  });
});

describe('a webhook is disabled', () => {
  test('by its developer, and goes on where it stopped when it is enabled', async () => {
    const { id } = await create(changed);
    const { webhook } = expectSuccess(await update(id, { enabled: false }), 200, webhookAnswer);
    expect(webhook).toMatchObject({ enabled: false, disabledReason: 'vendor' });
    await change();
    await change();
    for (const answer of [
      await world.client.post(`${root}/${id}/replay`, {
        from: '2026-01-01T00:00:00Z',
        to: '2100-01-01T00:00:00Z',
      }),
    ]) {
      expectFailure(answer, 409, 'INVALID_TRANSITION');
    }
    expect(await deliveriesOf(id)).toEqual([]);
    await update(id, { enabled: true });
    await arrived(['application.changed', 'application.changed']);
    expect(await read(id)).toMatchObject({ enabled: true, disabledAt: null, disabledReason: null });
  });

  test('if its receiver answers 410, with a log entry and an event for others', async () => {
    receiver.respond(path, 410);
    const { id } = await create(changed);
    await create({ types: ['webhook.disabled'], url: receiver.url(`${path}-watch`) });
    await change();
    await arrived(['webhook.disabled'], `${path}-watch`);
    expect(await read(id)).toMatchObject({ enabled: false, disabledReason: 'gone' });
    expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'pending', attempts: 1, statusCode: 410 });
    expect(receiver.at(`${path}-watch`)[0]?.event).toMatchObject({
      subject: { kind: 'webhook', id },
      data: { reason: 'gone' },
    });
    expect(await log()).toContain('webhook_disabled');
    const [entry] = await sql(
      server,
      "SELECT actor_kind AS kind FROM security_log WHERE developer_id = $1 AND event = 'webhook_disabled'",
      [world.developer.id],
    );
    expect(entry).toEqual({ kind: 'system' });
    // Nothing is lost: enabled again, it gets this event too.
    receiver.respond(path, 200);
    await update(id, { enabled: true });
    server.clock.step(10);
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
  });

  test('after 72 hours without a success', async () => {
    receiver.respond(path, 503);
    const { id } = await create(changed);
    await change();
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(1), patient);
    await vi.waitFor(async () => expect((await read(id)).failingSince).not.toBeNull(), patient);
    server.clock.step(71 * 3_600);
    await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
    await vi.waitFor(async () => {
      expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'pending', attempts: 2 });
    }, patient);
    expect(await read(id)).toMatchObject({ enabled: true });
    server.clock.step(3 * 3_600);
    await vi.waitFor(async () => {
      expect(await read(id)).toMatchObject({ enabled: false, disabledReason: 'failing' });
    }, patient);
    expect(receiver.at(path)).toHaveLength(3);
    expect(await log()).toContain('webhook_disabled');
    // It gets another 72 hours.
    receiver.respond(path, 200);
    await update(id, { enabled: true });
    server.clock.step(86_400);
    await settled(id);
    expect(await read(id)).toMatchObject({ enabled: true, failingSince: null });
  });
});

test('what was answered with 410 at the last attempt waits as well', async () => {
  receiver.respond(path, 500);
  const { id } = await create(changed);
  await change();
  await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.statusCode).toBe(500), patient);
  receiver.respond(path, 410);
  await sql(
    server,
    'UPDATE webhook_deliveries SET attempts = 9, next_attempt_at = created_at WHERE webhook_id = $1',
    [id],
  );
  await vi.waitFor(async () => expect((await read(id)).disabledReason).toBe('gone'), patient);
  expect((await deliveriesOf(id))[0]).toMatchObject({ status: 'pending', attempts: 10, statusCode: 410 });
});

test('deliveries whose events are no longer kept do not hold up new events', async () => {
  const { id } = await create(changed);
  await sql(
    server,
    `INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, sequence, next_attempt_at)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'application.changed', 0, $2 FROM generate_series(1, 200)`,
    [id, new Date(server.clock.now())],
  );
  await change();
  await arrived(['application.changed']);
  expect(await read(id)).toMatchObject({ enabled: true, failingSince: null });
});

test('a test that fails does not make a webhook fail', async () => {
  receiver.respond(path, 500);
  const { id } = await create(changed);
  await world.client.post(`${root}/${id}/test`);
  expect(await read(id)).toMatchObject({ enabled: true, failingSince: null });
});

test('new events are sent although many that failed wait for their next attempt', async () => {
  const { id } = await create(changed);
  await sql(
    server,
    `INSERT INTO webhook_deliveries
       (id, webhook_id, event_id, event_type, sequence, status, attempts, next_attempt_at, status_code)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'application.changed', 0, 'pending', 6,
       $2, 500
     FROM generate_series(1, 6000)`,
    [id, new Date(server.clock.now() + 9 * 3_600_000)],
  );
  await change();
  await arrived(['application.changed']);
});

const onServer = process.env.TEST_DATABASE_KIND === 'server';

test.skipIf(!onServer)('an account that is locked for long holds up no other', async () => {
  const other = await createWorld(server);
  await createWebhook(other.client, { url: receiver.url(`${path}-locked`) });
  await create(changed);
  const others = await other.createApplication();
  const locking = await server.deps.services.database.pool.connect();
  try {
    await change(others);
    await locking.query('BEGIN');
    await locking.query('SELECT FROM developers WHERE id = $1 FOR UPDATE', [other.developer.id]);
    for (let times = 1; times <= 3; times += 1) {
      await change();
      await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(times), patient);
    }
  } finally {
    await locking.query('ROLLBACK');
    locking.release();
  }
});

test.skipIf(!onServer)(
  'instances that claim the same webhooks at once claim each delivery once, and do not deadlock',
  async () => {
    const beside = await startTestServer({ beside: server, env: { ...noLimits, ...allowLoopback } });
    try {
      const webhooks = await Promise.all(
        Array.from({ length: 15 }, () =>
          createWebhook(world.client, { url: 'https://example.com/', types: ['device.moved'] }),
        ),
      );
      const ids = webhooks.map(({ id }) => id);
      const { pool: one } = server.deps.services.database;
      const { pool: two } = beside.deps.services.database;
      for (let round = 0; round < 30; round += 1) {
        // Due for the test's own clock only, so that no instance takes them.
        await sql(server, 'DELETE FROM webhook_deliveries WHERE webhook_id = ANY($1)', [ids]);
        await sql(
          server,
          `INSERT INTO webhook_deliveries
           (id, webhook_id, event_id, event_type, sequence, status, attempts, next_attempt_at)
         SELECT gen_random_uuid(), id, gen_random_uuid(), 'device.moved', sequence, 'pending', 1, '2999-01-01'
         FROM unnest($1::uuid[]) AS webhook (id), generate_series(1, 3) AS sequence`,
          [ids],
        );
        const shuffled = () => ids.toSorted(() => Math.random() - 0.5);
        const late = new Date('2999-06-01');
        const claimed = await Promise.all(
          Array.from({ length: 6 }, (_, turn) => claimDue(turn % 2 === 0 ? one : two, shuffled(), late)),
        );
        const claims = claimed.flat().map(({ webhook }) => webhook.webhookId);
        expect(new Set(claims).size).toBe(claims.length);
        await sql(server, 'DELETE FROM webhook_deliveries WHERE webhook_id = ANY($1)', [ids]);
      }
    } finally {
      await beside.close();
    }
  },
);

test('a test event is sent at once, to this webhook only, and the answer has the result', async () => {
  const { id, secret } = await create(changed);
  await create({ url: receiver.url(`${path}-other`) });
  const { delivery } = expectSuccess(await world.client.post(`${root}/${id}/test`), 200, deliveryAnswer);
  expect(delivery).toMatchObject({ status: 'succeeded', statusCode: 200, answer: 'thank you', attempts: 1 });
  const [received] = receiver.at(path);
  if (received === undefined) throw new Error('nothing was received');
  expect(verify(secret, received)).toMatchObject({
    id: delivery.eventId,
    type: 'webhook.test',
    subject: { kind: 'webhook', id },
  });
  receiver.respond(path, 500);
  const failed = expectSuccess(await world.client.post(`${root}/${id}/test`), 200, deliveryAnswer);
  expect(failed.delivery).toMatchObject({ status: 'failed', statusCode: 500, nextAttemptAt: null });
  expect(typesAt(`${path}-other`)).not.toContain('webhook.test');
  await update(id, { enabled: false });
  receiver.respond(path, 200);
  const disabled = expectSuccess(await world.client.post(`${root}/${id}/test`), 200, deliveryAnswer);
  expect(disabled.delivery.status).toBe('succeeded');
});

test('deliveries are listed in pages, by status', async () => {
  const { id } = await create(changed);
  for (let times = 0; times < 3; times += 1) await world.client.post(`${root}/${id}/test`);
  receiver.respond(path, 500);
  await world.client.post(`${root}/${id}/test`);
  const all = await deliveriesOf(id);
  expect(all.map(({ status }) => status)).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded']);
  expect(await deliveriesOf(id, '?status=failed')).toEqual(all.slice(0, 1));
  expect(await deliveriesOf(id, '?status=pending')).toEqual([]);
  const first = expectSuccess(
    await world.client.get(`${root}/${id}/deliveries?limit=2&status=succeeded`),
    200,
    deliveriesAnswer,
  );
  const second = await deliveriesOf(id, `?limit=2&status=succeeded&cursor=${first.nextCursor}`);
  expect([...first.deliveries, ...second]).toEqual(all.slice(1));
  expectIssue(await world.client.get(`${root}/${id}/deliveries?status=lost`), 'status');
});

test('a delivery is sent again when asked for', async () => {
  receiver.respond(path, 410);
  const { id } = await create(changed);
  await change();
  await vi.waitFor(async () => expect((await read(id)).enabled).toBe(false), patient);
  const [delivery] = await deliveriesOf(id);
  const redeliver = () => world.client.post(`${root}/${id}/deliveries/${delivery?.id}/redeliver`);
  expectFailure(await redeliver(), 409, 'INVALID_TRANSITION');
  await update(id, { enabled: true });
  receiver.respond(path, 200);
  expectSuccess(await redeliver(), 200, deliveryAnswer);
  await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
  await settled(id);
  const [first, second] = receiver.at(path);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(await deliveriesOf(id)).toEqual([
    expect.objectContaining({ id: delivery?.id, status: 'succeeded', attempts: 1 }),
  ]);
});

test('the events of a time are sent again, each once', async () => {
  const { id } = await create(changed);
  await change();
  await change();
  await application.mintOne();
  await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
  await settled(id);
  const now = server.clock.now();
  const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString();
  const replay = (from: string, to: string) => world.client.post(`${root}/${id}/replay`, { from, to });
  const enqueued = z.strictObject({ success: done, enqueued: z.int() });
  expect(expectSuccess(await replay(at(-7_200), at(-3_600)), 200, enqueued).enqueued).toBe(0);
  expect(expectSuccess(await replay(at(-3_600), at(3_600)), 200, enqueued).enqueued).toBe(2);
  await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(4), patient);
  await settled(id);
  expect(new Set(receiver.at(path).map(({ event }) => event.id)).size).toBe(2);
  expect(await deliveriesOf(id)).toHaveLength(2);
  // Events that its types did not select at the time are sent too.
  await update(id, { types: ['license.*'] });
  await vi.waitFor(async () => {
    // Once the webhook has passed them.
    expect(expectSuccess(await replay(at(-3_600), at(3_600)), 200, enqueued).enqueued).toBe(1);
  }, patient);
  await vi.waitFor(() => expect(typesAt()).toContain('license.created'), patient);
  expectIssue(await replay(at(1), at(0)), 'to');
});

test('what is sent ends with the account', async () => {
  receiver.respond(path, 500);
  const { id } = await create(changed);
  await change();
  await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(1), patient);
  await vi.waitFor(async () => expect((await deliveriesOf(id))[0]?.statusCode).toBe(500), patient);
  const answer = await world.client.post('/api/v1/account/delete', {
    password: world.developer.password,
    confirm: 'DELETE',
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(await sql(server, 'SELECT FROM webhooks WHERE id = $1', [id])).toEqual([]);
  expect(await sql(server, 'SELECT FROM webhook_deliveries WHERE webhook_id = $1', [id])).toEqual([]);
});

test('an endpoint that does not answer holds up no other, of the same account or another', async () => {
  const hanging: (() => void)[] = [];
  receiver.respond(path, (response) => void hanging.push(() => response.end()));
  for (let more = 0; more < 6; more += 1) await create(changed);
  const quick = `${path}-quick`;
  await create({ ...changed, url: receiver.url(quick) });
  const other = await createWorld(server);
  const others = await other.createApplication();
  await createWebhook(other.client, { ...changed, url: receiver.url(`${path}-others`) });
  for (let times = 0; times < 5; times += 1) {
    await change();
    await change(others);
  }
  // All arrive while the others hang: none of these has been answered.
  await vi.waitFor(() => expect(receiver.at(quick)).toHaveLength(5), patient);
  await vi.waitFor(() => expect(receiver.at(`${path}-others`)).toHaveLength(5), patient);
  expect(hanging).toHaveLength(6);
  receiver.respond(path, 200);
  for (const end of hanging) end();
  await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(30), patient);
});

test('a host name that leads inside is refused when it is used, in words that tell nothing', async () => {
  const own = await startTestServer({ env: noLimits });
  try {
    const { client } = await createWorld(own);
    const { id } = await createWebhook(client, { url: 'https://inside.invalid/' });
    const { delivery } = expectSuccess(await client.post(`${root}/${id}/test`), 200, deliveryAnswer);
    expect(delivery).toMatchObject({
      status: 'failed',
      statusCode: null,
      answer: null,
      error: 'The host has no public address.',
    });
  } finally {
    await own.close();
  }
});

test('an API key may manage webhooks, and a stranger may not', async () => {
  const stranger = new ApiClient(server.baseUrl);
  expectFailure(await stranger.get(root), 401, 'UNAUTHENTICATED');
  expectFailure(
    await stranger.post(root, { url: 'https://example.com/', types: ['*'] }),
    401,
    'UNAUTHENTICATED',
  );
});
