import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { sql } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  accountExportAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  missingId,
  noLimits,
  policiesAnswer,
  policyAnswer,
} from './support.ts';

const { server, world } = useWorld({
  env: { ...noLimits, COUNT_LIMITS: `${noLimits.COUNT_LIMITS},policies=5` },
});
const application = forTest(() => world.createApplication());

const path = (policyId?: string, applicationId = application.id) =>
  `/api/v1/apps/${applicationId}/policies${policyId === undefined ? '' : `/${policyId}`}`;

const create = (fields: Record<string, unknown> = {}, applicationId = application.id) =>
  world.client.post(path(undefined, applicationId), { code: 'pro', name: 'Pro', ...fields });
const created = async (fields: Record<string, unknown> = {}) =>
  expectSuccess(await create(fields), 201, policyAnswer).policy;
const read = async (id: string) => expectSuccess(await world.client.get(path(id)), 200, policyAnswer).policy;
const list = async (query = ''): Promise<z.infer<typeof policiesAnswer>> =>
  expectSuccess(await world.client.get(`${path()}${query}`), 200, policiesAnswer);

const terms = {
  durationSeconds: 86_400,
  startsAt: 'creation',
  subscriptionTier: 2,
  deviceLimit: 3,
  selfService: 'key',
  moves: { count: 2, periodSeconds: 3_600 },
  cooldownSeconds: 60,
  releaseIdleAfterSeconds: 7_200,
  graceSeconds: 300,
  leaseSeconds: 3_600,
  entitlements: { 'export.pdf': true, seats: 5, channel: 'beta' },
  keyMask: 'PRO-XXXXXXXXXXXXXXX',
  metadata: { client: { plan: 'pro' }, private: { order: 7 } },
};

describe('a policy', () => {
  test('has the values that it was created with', async () => {
    const policy = await created(terms);
    expect(policy).toMatchObject({ applicationId: application.id, code: 'pro', name: 'Pro', ...terms });
    expect(await read(policy.id)).toEqual(policy);
  });

  test('without values has those of a license without a policy', async () => {
    expect(await created()).toMatchObject({
      durationSeconds: 0,
      startsAt: 'first_use',
      subscriptionTier: 0,
      deviceLimit: 1,
      selfService: 'off',
      moves: null,
      cooldownSeconds: 0,
      releaseIdleAfterSeconds: null,
      graceSeconds: 0,
      leaseSeconds: null,
      entitlements: {},
      keyMask: null,
      metadata: { client: {}, private: {} },
    });
  });

  test('keeps what a change does not name', async () => {
    const policy = await created(terms);
    const change = { name: 'Pro 2', deviceLimit: 4, moves: null, entitlements: { seats: 6 } };
    const changed = expectSuccess(
      await world.client.patch(path(policy.id), change),
      200,
      policyAnswer,
    ).policy;
    expect({ ...changed, updatedAt: '' }).toEqual({ ...policy, ...change, updatedAt: '' });
    expect(await read(policy.id)).toEqual(changed);
  });

  test('is not found once it is deleted', async () => {
    const { id } = await created();
    expectSuccess(await world.client.delete(path(id)), 200, doneAnswer);
    expectFailure(await world.client.get(path(id)), 404, 'POLICY_NOT_FOUND');
    expectFailure(await world.client.delete(path(id)), 404, 'POLICY_NOT_FOUND');
    expectFailure(await world.client.patch(path(id), { name: 'Pro' }), 404, 'POLICY_NOT_FOUND');
    expect((await list()).policies).toEqual([]);
  });

  test('is found only in its application, and only by its developer', async () => {
    const { id } = await created();
    const other = await world.createApplication();
    const stranger = await createWorld(server);
    const strangers = await stranger.createApplication();
    const attempts = [
      [world, path(id, other.id), 'POLICY_NOT_FOUND'],
      [world, path(missingId), 'POLICY_NOT_FOUND'],
      [world, path('garbage'), 'POLICY_NOT_FOUND'],
      [stranger, path(id), 'APP_NOT_FOUND'],
      [stranger, path(id, strangers.id), 'POLICY_NOT_FOUND'],
    ] as const;
    for (const [{ client }, url, code] of attempts) {
      expectFailure(await client.get(url), 404, code);
      expectFailure(await client.patch(url, { name: 'Mine' }), 404, code);
      expectFailure(await client.delete(url), 404, code);
    }
    expectFailure(await stranger.client.get(path()), 404, 'APP_NOT_FOUND');
    expectFailure(await stranger.client.post(path(), { code: 'a', name: 'A' }), 404, 'APP_NOT_FOUND');
    expect(await read(id)).toMatchObject({ name: 'Pro' });
  });

  test('is refused with values that a license cannot have', async () => {
    for (const wrong of [
      { code: 'Pro' },
      { code: 'a'.repeat(65) },
      { name: ' ' },
      { durationSeconds: 2 ** 31 },
      { startsAt: 'never' },
      { deviceLimit: 1001 },
      { selfService: 'all' },
      { moves: { count: 101, periodSeconds: 1 } },
      { leaseSeconds: 3_599 },
      { entitlements: { seats: 1.5 } },
      { keyMask: 'XXX' },
      { metadata: { public: {} } },
      { tags: ['a'] },
    ]) {
      const [field = ''] = Object.keys(wrong);
      expectIssue(await create(wrong), field);
    }
    const { id } = await created();
    expectIssue(await world.client.patch(path(id), { durationDays: 1 }), 'durationDays');
    expectFailure(await world.client.patch(path(id), {}), 400, 'VALIDATION_FAILED');
    expectFailure(await world.client.get(`${path()}?code=pro`), 400, 'VALIDATION_FAILED');
  });

  test('is in the export of the account', async () => {
    const owner = await createWorld(server);
    const { id } = await owner.createApplication();
    const answer = await owner.client.post(path(undefined, id), { code: 'pro', name: 'Pro', ...terms });
    const { policy } = expectSuccess(answer, 201, policyAnswer);
    const exported = await owner.client.get('/api/v1/account/export');
    expect(expectSuccess(exported, 200, accountExportAnswer).export.policies).toEqual([policy]);
  });
});

describe('the code of a policy', () => {
  test('is unique within the application', async () => {
    const { id } = await created();
    const other = await created({ code: 'team' });
    expectFailure(await create(), 409, 'POLICY_CODE_TAKEN');
    expectFailure(await world.client.patch(path(other.id), { code: 'pro' }), 409, 'POLICY_CODE_TAKEN');
    expectSuccess(await world.client.patch(path(id), { code: 'pro' }), 200, policyAnswer);
    expectSuccess(await create({}, (await world.createApplication()).id), 201, policyAnswer);
  });

  test('goes to one of several creations at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expect((await list()).policies).toHaveLength(1);
  });

  test('goes to one of two changes at the same time', async () => {
    const policies = [await created({ code: 'a' }), await created({ code: 'b' })];
    const answers = await Promise.all(
      policies.map(({ id }) => world.client.patch(path(id), { code: 'the-one' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('the policies of an application', () => {
  test('are listed page by page, newest first, and searched by code and name', async () => {
    const codes = ['a', 'b', 'c'];
    for (const code of codes) await created({ code, name: `Plan ${code.toUpperCase()}!` });
    const first = await list('?limit=2');
    expect(first.policies.map(({ code }) => code)).toEqual(['c', 'b']);
    const rest = await list(`?limit=2&cursor=${first.nextCursor}`);
    expect(rest).toMatchObject({ policies: [{ code: 'a' }], nextCursor: null });
    expect((await list('?q=plan%20b')).policies.map(({ code }) => code)).toEqual(['b']);
  });

  test('are at most as many as the limit, however many are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => create({ code: `p${index}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectFailure(answer, 409, 'LIMIT_REACHED');
    }
    const [last] = (await list()).policies;
    expectSuccess(await world.client.delete(path(last?.id)), 200, doneAnswer);
    await created({ code: 'room' });
  });
});

describe('the security log', () => {
  test('has an entry for each change, with the names of what changed and no values', async () => {
    const { id } = await created(terms);
    await world.client.patch(path(id), { name: 'A secret name', graceSeconds: 1 });
    await world.client.delete(path(id));
    const entries = await sql(
      server,
      `SELECT event, metadata FROM security_log WHERE application_id = $1 AND event LIKE 'policy%' ORDER BY id`,
      [application.id],
    );
    expect(entries).toEqual([
      { event: 'policy_created', metadata: { policyId: id, code: 'pro' } },
      { event: 'policy_changed', metadata: { policyId: id, fields: ['name', 'graceSeconds'] } },
      { event: 'policy_deleted', metadata: { policyId: id, code: 'pro' } },
    ]);
  });
});
