import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { RequestWork } from '../../src/services/request-work.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { others as otherValues, values } from '../setup/policy-values.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, sql, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  expectFailure,
  expectIssue,
  expectSuccess,
  licensesAnswer,
  mintedAnswer,
  missingId,
  noLimits,
  policyAnswer,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const others = { ...otherValues, entitlements: { seats: 1, 'export.pdf': true } };

const pathOf = (id: string, applicationId = application.id) => `/api/v1/apps/${applicationId}/policies/${id}`;

async function createPolicy(fields: Record<string, unknown> = {}) {
  const body = { code: randomBytes(8).toString('hex'), name: 'Pro', ...values, ...fields };
  const answer = await world.client.post(`/api/v1/apps/${application.id}/policies`, body);
  return expectSuccess(answer, 201, policyAnswer).policy;
}

async function mint(fields: Record<string, unknown> = {}) {
  const body = { applicationId: application.id, amount: 1, ...fields };
  return expectSuccess(await world.client.post('/api/v1/licenses/create', body), 201, mintedAnswer).keys;
}
async function mintOne(fields: Record<string, unknown> = {}) {
  const [license] = await mint(fields);
  if (license === undefined) throw new Error('no license');
  return license;
}

async function licenses() {
  const answer = await world.client.get(`/api/v1/apps/${application.id}/licenses?limit=200`);
  return expectSuccess(answer, 200, licensesAnswer).licenses;
}
async function read(id: string) {
  const found = (await licenses()).find((license) => license.id === id);
  if (found === undefined) throw new Error('no such license');
  return found;
}

const use = async ({ licenseKey }: { licenseKey: string }, hwid = 'device') =>
  (await openSession(server, application)).ask(validatePath, { licenseKey, hwid });

const counts = {
  matched: z.int(),
  changed: z.int(),
  skipped: z.int(),
  skippedByCode: z.record(z.string(), z.int()),
};
const code = z.string().optional();
const preview = z.strictObject({
  success: z.literal(true),
  dryRun: z.literal(true),
  ...counts,
  sample: z.array(
    z.strictObject({ id: z.string(), keyPrefix: z.string().nullable(), outcome: z.string(), code }),
  ),
  ids: z.array(z.string()),
});
const run = z.strictObject({
  success: z.literal(true),
  dryRun: z.literal(false),
  ...counts,
  results: z.array(z.strictObject({ id: z.string(), outcome: z.string(), code })),
});

const apply = (id: string, body: Record<string, unknown> = {}) =>
  world.client.post(`${pathOf(id)}/apply`, body);
const applied = async (id: string, body: Record<string, unknown> = {}) =>
  expectSuccess(await apply(id, body), 200, run);
const previewed = async (id: string, body: Record<string, unknown> = {}) =>
  expectSuccess(await apply(id, { ...body, dryRun: true }), 200, preview);

const change = async (id: string, fields: Record<string, unknown>) =>
  expectSuccess(await world.client.patch(pathOf(id), fields), 200, policyAnswer);

describe('a changed policy', () => {
  test('changes no license until it is applied, and then all of its own', async () => {
    const policy = await createPolicy();
    const [first, second] = await mint({ amount: 2, policyId: policy.id, note: 'mine', tags: ['a'] });
    const stranger = await mintOne({ durationSeconds: 5 });
    const before = await licenses();
    await change(policy.id, others);
    expect(await licenses()).toEqual(before);

    const outcome = await applied(policy.id);
    expect(outcome).toMatchObject({ matched: 2, changed: 2, skippedByCode: {} });
    for (const license of [first, second]) {
      expect(await read(license?.id ?? '')).toMatchObject({
        ...others,
        policyId: policy.id,
        status: 'unused',
        note: 'mine',
        tags: ['a'],
      });
    }
    expect(await read(stranger.id)).toEqual(before.find(({ id }) => id === stranger.id));
  });

  test('reaches programs with their next validation', async () => {
    const policy = await createPolicy();
    const license = await mintOne({ policyId: policy.id });
    expect(await use(license)).toMatchObject({ code: 'OK', entitlements: values.entitlements });
    await change(policy.id, { entitlements: { seats: 9 }, subscriptionTier: 3 });
    expect(await use(license)).toMatchObject({ entitlements: values.entitlements, subscriptionTier: 2 });
    await applied(policy.id);
    expect(await use(license)).toMatchObject({ entitlements: { seats: 9 }, subscriptionTier: 3 });
  });

  test('starts no term again: the duration is for licenses that are unused', async () => {
    const policy = await createPolicy({ startsAt: 'creation' });
    const started = await mintOne({ policyId: policy.id });
    const unused = await mintOne({ policyId: policy.id, startsAt: 'first_use' });
    const before = await read(started.id);
    await change(policy.id, { durationSeconds: 60, deviceLimit: 9, startsAt: 'first_use' });
    await applied(policy.id);
    expect(await read(started.id)).toMatchObject({
      status: 'active',
      deviceLimit: 9,
      durationSeconds: before.durationSeconds,
      expiresAt: before.expiresAt,
      activatedAt: before.activatedAt,
    });
    expect(await read(unused.id)).toMatchObject({ status: 'unused', durationSeconds: 60, deviceLimit: 9 });
  });

  test('evicts no device with a lower limit', async () => {
    const policy = await createPolicy();
    const license = await mintOne({ policyId: policy.id });
    for (const hwid of ['one', 'two', 'three']) await use(license, hwid);
    await change(policy.id, { deviceLimit: 1 });
    await applied(policy.id);
    expect(await read(license.id)).toMatchObject({ deviceLimit: 1, deviceCount: 3, overLimit: true });
    expect(await use(license, 'three')).toMatchObject({ code: 'OK' });
  });

  test('revokes the leases of licenses that end earlier, and only of these', async () => {
    const policy = await createPolicy({ startsAt: 'creation' });
    const limited = await mintOne({ policyId: policy.id });
    const unlimited = await mintOne({ policyId: policy.id, durationSeconds: 0 });
    for (const { id } of [limited, unlimited]) {
      const deviceRequest = deviceRequestOf(application.id, `device of ${id}`);
      const issued = await world.client.post(`/api/v1/licenses/${id}/offline-lease`, { deviceRequest });
      expect(issued.status, JSON.stringify(issued.body)).toBe(201);
    }
    const revoked = async () =>
      (
        await sql<{ id: string }>(
          server,
          'SELECT license_id AS id FROM leases WHERE application_id = $1 AND revoked_rev IS NOT NULL',
          [application.id],
        )
      ).map(({ id }) => id);
    await change(policy.id, { graceSeconds: 400 });
    await applied(policy.id);
    expect(await revoked()).toEqual([]);
    await change(policy.id, { graceSeconds: 0 });
    await applied(policy.id);
    expect(await revoked()).toEqual([limited.id]);
  });
});

describe('applying a policy', () => {
  test('goes on with the values of its beginning, also if the policy was changed and deleted since', async () => {
    const policy = await createPolicy();
    await mint({ amount: 60, policyId: policy.id });
    await change(policy.id, { subscriptionTier: 7 });
    const keyed = world.client.with({ headers: { 'Idempotency-Key': randomUUID() } });
    const repeat = async () => expectSuccess(await keyed.post(`${pathOf(policy.id)}/apply`, {}), 200, run);
    const late = vi.spyOn(RequestWork.prototype, 'isLate').mockReturnValueOnce(false).mockReturnValue(true);
    onTestFinished(() => late.mockRestore());
    const first = await repeat();
    expect(first.changed).toBeGreaterThan(0);
    expect(first.skippedByCode).toEqual({ UNAVAILABLE: 60 - first.changed });
    late.mockRestore();
    await change(policy.id, { subscriptionTier: 8 });
    expect((await world.client.delete(pathOf(policy.id))).status).toBe(200);
    const whole = await repeat();
    expect(whole).toMatchObject({ matched: 60, changed: 60 });
    expect(new Set((await licenses()).map(({ subscriptionTier }) => subscriptionTier))).toEqual(new Set([7]));
    expect(await repeat()).toEqual(whole);
  });

  test('skips licenses that have all values already', async () => {
    const policy = await createPolicy();
    const same = await mintOne({ policyId: policy.id });
    const other = await mintOne({ policyId: policy.id, entitlements: { seats: 6 } });
    expect(await applied(policy.id)).toMatchObject({
      matched: 2,
      changed: 1,
      skippedByCode: { UNCHANGED: 1 },
      results: [
        { id: other.id, outcome: 'changed' },
        { id: same.id, outcome: 'skipped', code: 'UNCHANGED' },
      ],
    });
    expect(await applied(policy.id)).toMatchObject({ changed: 0, skippedByCode: { UNCHANGED: 2 } });
  });

  test('notices each value that differs', async () => {
    const policy = await createPolicy();
    const differing = Object.entries(others).map(([name, value]) => ({ [name]: value }));
    const minted = await Promise.all(differing.map((own) => mintOne({ policyId: policy.id, ...own })));
    const outcome = await applied(policy.id);
    expect(outcome).toMatchObject({ changed: differing.length, skippedByCode: {} });
    const log = await storedLog(server, application.id, 'policy_applied');
    const named = new Map(log.map(({ licenseId, metadata }) => [licenseId, metadata]));
    for (const [index, own] of differing.entries()) {
      expect(named.get(minted[index]?.id ?? '')).toEqual({
        policyId: policy.id,
        code: policy.code,
        changed: Object.keys(own),
      });
    }
    for (const license of await licenses()) expect(license).toMatchObject(values);
  });

  test('goes to the licenses of ids or of a filter instead, which are then its own', async () => {
    const policy = await createPolicy();
    const own = await mintOne({ policyId: policy.id, subscriptionTier: 7 });
    const named = await mintOne({ durationSeconds: 0 });
    const tagged = await mintOne({ durationSeconds: 0, tags: ['vip'] });
    expect(await applied(policy.id, { ids: [named.id, missingId] })).toMatchObject({
      matched: 1,
      changed: 1,
      skippedByCode: { LICENSE_NOT_FOUND: 1 },
    });
    expect(await applied(policy.id, { filter: { tag: 'vip' } })).toMatchObject({ matched: 1, changed: 1 });
    expect(await read(own.id)).toMatchObject({ subscriptionTier: 7 });
    for (const { id } of [named, tagged])
      expect(await read(id)).toMatchObject({ ...values, policyId: policy.id });
    expectIssue(await apply(policy.id, { ids: [named.id], filter: {} }), 'ids');
    expectIssue(await apply(policy.id, { ids: [] }), 'ids');
    expectIssue(await apply(policy.id, { dryRun: 'yes' }), 'dryRun');
  });

  test("finds neither another developer's policy nor their licenses", async () => {
    const policy = await createPolicy();
    const stranger = await createWorld(server);
    const theirs = await (await stranger.createApplication()).mintOne();
    expectFailure(await stranger.client.post(`${pathOf(policy.id)}/apply`, {}), 404, 'APP_NOT_FOUND');
    expectFailure(await apply(missingId), 404, 'POLICY_NOT_FOUND');
    expect(await applied(policy.id, { ids: [theirs.id] })).toMatchObject({
      matched: 0,
      changed: 0,
      skippedByCode: { LICENSE_NOT_FOUND: 1 },
    });
  });

  test('names in a dry run exactly what the run then changes, and changes nothing', async () => {
    const policy = await createPolicy();
    await mint({ policyId: policy.id, amount: 120, subscriptionTier: 7 });
    await mint({ policyId: policy.id, amount: 30 });
    await mint({ policyId: policy.id, amount: 10, startsAt: 'creation', durationSeconds: 10 });
    const before = await databaseState(server);
    const told = await previewed(policy.id);
    expect(await databaseState(server)).toEqual(before);
    expect(told).toMatchObject({ matched: 160, changed: 120, skippedByCode: { UNCHANGED: 40 } });
    expect(told.sample).toHaveLength(20);

    const was = new Map((await licenses()).map((license) => [license.id, license]));
    const done = await applied(policy.id);
    const changed = done.results.filter(({ outcome }) => outcome === 'changed').map(({ id }) => id);
    expect(changed).toEqual(told.ids);
    expect(done).toMatchObject({
      matched: told.matched,
      changed: told.changed,
      skippedByCode: told.skippedByCode,
    });
    const differ = (await licenses()).filter(
      (license) => JSON.stringify(license) !== JSON.stringify(was.get(license.id)),
    );
    expect(differ.map(({ id }) => id)).toEqual(told.ids);
  });

  test('tells over GraphQL what it tells over REST', async () => {
    const policy = await createPolicy();
    const license = await mintOne({ policyId: policy.id, subscriptionTier: 7 });
    const graphql = async (dryRun: boolean) => {
      const input = { applicationId: application.id, policyId: policy.id, dryRun };
      const { data, errors } = await new GraphqlClient(world.client).ask(
        `mutation ($input: ApplyPolicyInput!) { applyPolicy(input: $input) {
           dryRun matched changed skipped skippedByCode { code count } changedIds } }`,
        { input },
      );
      expect(errors).toEqual([]);
      return data?.applyPolicy;
    };
    const done = { matched: 1, changed: 1, skipped: 0, skippedByCode: [], changedIds: [license.id] };
    expect(await graphql(true)).toEqual({ dryRun: true, ...done });
    expect(await read(license.id)).toMatchObject({ subscriptionTier: 7 });
    expect(await graphql(false)).toEqual({ dryRun: false, ...done });
    expect(await read(license.id)).toMatchObject({ subscriptionTier: 2 });
  });
});
