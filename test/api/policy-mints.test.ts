import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { others, values } from '../setup/policy-values.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { sql, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  blindAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  licensesAnswer,
  metricsAnswer,
  mintedAnswer,
  missingId,
  noLimits,
  policyAnswer,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const defaults = {
  subscriptionTier: 0,
  deviceLimit: 1,
  selfService: 'off',
  moves: null,
  cooldownSeconds: 0,
  releaseIdleAfterSeconds: null,
  graceSeconds: 0,
  leaseSeconds: null,
  policyId: null,
  entitlements: {},
  metadata: { client: {}, private: {} },
  tags: [],
};

async function createPolicy(fields: Record<string, unknown> = {}, applicationId = application.id) {
  const body = { code: randomBytes(8).toString('hex'), name: 'Pro', ...values, ...fields };
  const answer = await world.client.post(`/api/v1/apps/${applicationId}/policies`, body);
  return expectSuccess(answer, 201, policyAnswer).policy;
}

async function licenses(query = 'limit=200') {
  const answer = await world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`);
  return expectSuccess(answer, 200, licensesAnswer).licenses;
}

const blindKey = (fields: Record<string, unknown> = {}) => ({
  licenseKeyHash: createHash('sha256').update(randomBytes(16)).digest('hex'),
  licenseKeyPrefix: 'AB',
  ...fields,
});

/** The ways to mint, with the same members. */
const ways = {
  'licenses/create': (members: Record<string, unknown>) =>
    world.client.post('/api/v1/licenses/create', { applicationId: application.id, amount: 2, ...members }),
  'licenses/create-blind': (members: Record<string, unknown>) =>
    world.client.post('/api/v1/licenses/create-blind', {
      applicationId: application.id,
      keys: [blindKey(), blindKey()],
      ...members,
    }),
  createLicenses: (members: Record<string, unknown>) =>
    overGraphql('createLicenses', { amount: 2, ...members }),
  createBlindLicenses: (members: Record<string, unknown>) =>
    overGraphql('createBlindLicenses', { keys: [blindKey(), blindKey()], ...members }),
} as const;

async function overGraphql(field: string, members: Record<string, unknown>) {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`;
  const document = `mutation ($input: ${type}!) { ${field}(input: $input) { keys { id } } }`;
  const input = { applicationId: application.id, ...members };
  const { errors, answer } = await new GraphqlClient(world.client).ask(document, { input });
  const [error] = errors;
  return {
    ...answer,
    status: error === undefined ? 201 : 400,
    body: error === undefined ? answer.body : { code: error.extensions.code },
  };
}

describe.each(Object.entries(ways))('%s', (_name, mint) => {
  test('copies the values of a policy to every license', async () => {
    const policy = await createPolicy();
    expect(await mint({ policyId: policy.id })).toMatchObject({ status: 201 });
    const minted = await licenses();
    expect(minted).toHaveLength(2);
    for (const license of minted) {
      expect(license).toMatchObject({
        ...values,
        policyId: policy.id,
        status: 'unused',
        activatedAt: null,
        expiresAt: null,
        tags: [],
      });
    }
  });

  test('prefers what it says itself, null among it', async () => {
    const policy = await createPolicy();
    expect(await mint({ policyId: policy.id, ...others, tags: ['b', 'a', 'b'] })).toMatchObject({
      status: 201,
    });
    for (const license of await licenses()) {
      expect(license).toMatchObject({ ...others, policyId: policy.id, tags: ['b', 'a'] });
    }
  });

  test('without a policy has the defaults for what it does not say, and requires a duration', async () => {
    expect(await mint({})).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    expect(await mint({ durationSeconds: 60 })).toMatchObject({ status: 201 });
    for (const license of await licenses()) {
      expect(license).toMatchObject({ ...defaults, durationSeconds: 60, status: 'unused' });
    }
  });

  test('starts the term at once if the policy or the mint says so', async () => {
    const policy = await createPolicy({ startsAt: 'creation' });
    await mint({ policyId: policy.id });
    await mint({ durationSeconds: 0, startsAt: 'creation' });
    await mint({ policyId: policy.id, startsAt: 'first_use' });
    const [unused, , unlimited, , limited] = await licenses();
    expect(unused).toMatchObject({ status: 'unused', activatedAt: null, expiresAt: null });
    expect(unlimited).toMatchObject({ status: 'active', expiresAt: null });
    expect(unlimited?.activatedAt).toBe(unlimited?.createdAt);
    expect(limited).toMatchObject({ status: 'active', activatedAt: limited?.createdAt });
    expect(Date.parse(limited?.expiresAt ?? '') - Date.parse(limited?.createdAt ?? '')).toBe(86_400_000);
  });

  test('finds only policies of its application', async () => {
    const other = await world.createApplication();
    const stranger = await createWorld(server);
    const strangers = await stranger.createApplication();
    const body = { code: 'pro', name: 'Pro' };
    const foreign = await stranger.client.post(`/api/v1/apps/${strangers.id}/policies`, body);
    const ids = [
      missingId,
      (await createPolicy({}, other.id)).id,
      expectSuccess(foreign, 201, policyAnswer).policy.id,
    ];
    for (const policyId of ids) {
      expect((await mint({ policyId })).body).toMatchObject({ code: 'POLICY_NOT_FOUND' });
    }
    expect(await licenses()).toEqual([]);
  });
});

describe('a license', () => {
  const mint = async (policyId: string) => {
    const body = { applicationId: application.id, amount: 1, policyId };
    const { keys } = expectSuccess(
      await world.client.post('/api/v1/licenses/create', body),
      201,
      mintedAnswer,
    );
    return keys[0];
  };

  test('stays as it is when its policy is changed or deleted', async () => {
    const { id } = await createPolicy();
    await mint(id);
    const before = await licenses();
    const policy = `/api/v1/apps/${application.id}/policies/${id}`;
    expectSuccess(await world.client.patch(policy, { ...others, name: 'Changed' }), 200, policyAnswer);
    expect(await licenses()).toEqual(before);
    expectSuccess(await world.client.delete(policy), 200, doneAnswer);
    expect(await licenses()).toEqual(before);
  });

  test('leads to its policy over GraphQL until that is deleted', async () => {
    const policy = await createPolicy();
    const minted = await mint(policy.id);
    const ask = () =>
      new GraphqlClient(world.client).ask(
        'query ($id: ID!) { license(id: $id) { policyId policy { id code entitlements } } }',
        { id: minted?.id },
      );
    const { code, entitlements } = policy;
    expect((await ask()).data).toEqual({
      license: { policyId: policy.id, policy: { id: policy.id, code, entitlements } },
    });
    await world.client.delete(`/api/v1/apps/${application.id}/policies/${policy.id}`);
    expect(await ask()).toMatchObject({
      errors: [],
      data: { license: { policyId: policy.id, policy: null } },
    });
  });

  test('tells its client what it includes, and keeps the rest for its vendor', async () => {
    const policy = await createPolicy({ startsAt: 'creation' });
    const minted = await mint(policy.id);
    const session = await openSession(server, application);
    const answer = await session.ask(validatePath, { licenseKey: minted?.licenseKey, hwid: 'device' });
    expect(answer).toMatchObject({
      code: 'OK',
      entitlements: values.entitlements,
      metadata: values.metadata.client,
      subscriptionTier: 2,
    });
    expect(JSON.stringify(answer)).not.toContain('order');
  });

  test('that starts when it is created is judged by that start', async () => {
    const policy = await createPolicy({ startsAt: 'creation', durationSeconds: 1, graceSeconds: 0 });
    const minted = await mint(policy.id);
    await sql(
      server,
      `UPDATE licenses SET expires_at = created_at + interval '1 millisecond' WHERE id = $1`,
      [minted?.id],
    );
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey: minted?.licenseKey, hwid: 'device' })).toMatchObject(
      {
        code: 'EXPIRED',
      },
    );
  });
});

describe('a policy that is changed during mints', () => {
  test('gives each license the values of one time', async () => {
    const policy = await createPolicy({ subscriptionTier: 1, deviceLimit: 1 });
    const changes = Array.from({ length: 12 }, (_, index) => index + 1);
    await Promise.all(
      changes.flatMap((number) => [
        world.client.patch(`/api/v1/apps/${application.id}/policies/${policy.id}`, {
          subscriptionTier: number,
          deviceLimit: number,
        }),
        ways['licenses/create']({ policyId: policy.id }),
      ]),
    );
    const minted = await licenses();
    expect(minted).toHaveLength(2 * changes.length);
    for (const { subscriptionTier, deviceLimit } of minted) expect(deviceLimit).toBe(subscriptionTier);
  });
});

describe('the keys of a mint by a policy', () => {
  test("have the policy's mask, unless the mint has one", async () => {
    const policy = await createPolicy({ keyMask: 'PRO-XXXXXXXXXXXXXXX' });
    const mint = async (mask?: string) => {
      const body = { applicationId: application.id, amount: 1, policyId: policy.id, ...(mask && { mask }) };
      const answer = await world.client.post('/api/v1/licenses/create', body);
      return expectSuccess(answer, 201, mintedAnswer).keys[0]?.licenseKey;
    };
    expect(await mint()).toMatch(/^PRO-\w{15}$/);
    expect(await mint('MINE-XXXXXXXXXXXXX')).toMatch(/^MINE-\w{13}$/);
  });
});

describe('a blind mint', () => {
  test('lets each key have its own duration and tier', async () => {
    const policy = await createPolicy({ startsAt: 'creation' });
    const keys = [blindKey({ durationSeconds: 10, subscriptionTier: 9 }), blindKey()];
    const body = { applicationId: application.id, policyId: policy.id, keys };
    const answer = await world.client.post('/api/v1/licenses/create-blind', body);
    expect(expectSuccess(answer, 201, blindAnswer).keys).toMatchObject([
      { durationSeconds: 10, subscriptionTier: 9 },
      { durationSeconds: 86_400, subscriptionTier: 2 },
    ]);
    const terms = (await licenses()).map(
      ({ createdAt, expiresAt }) => Date.parse(expiresAt ?? '') - Date.parse(createdAt),
    );
    expect(terms).toEqual([86_400_000, 10_000]);
  });

  test('names the keys that have no duration', async () => {
    const keys = [blindKey({ durationSeconds: 10 }), blindKey()];
    const answer = await world.client.post('/api/v1/licenses/create-blind', {
      applicationId: application.id,
      keys,
    });
    expect(expectFailure(answer, 400, 'VALIDATION_FAILED').issues).toMatchObject([
      { path: ['keys', 1, 'durationSeconds'] },
    ]);
  });
});

describe('a mint of many licenses', () => {
  const amount = 1_200;

  test('that start at once counts them as active, and by their expiry', { tags: 'slow' }, async () => {
    const owner = await createWorld(server);
    const { id } = await owner.createApplication();
    const counts = async () => {
      const answer = await owner.client.get('/api/v1/metrics/overview');
      return expectSuccess(answer, 200, metricsAnswer).metrics.licenses;
    };
    const mint = (members: object) =>
      owner.client.post('/api/v1/licenses/create', {
        applicationId: id,
        amount,
        durationSeconds: 7_200,
        ...members,
      });
    expectSuccess(await mint({ startsAt: 'creation', entitlements: { seats: 1 } }), 201, mintedAnswer);
    expect(await counts()).toMatchObject({ total: amount, unused: 0, active: amount, expired: 0 });
    const { keys } = expectSuccess(await mint({}), 201, mintedAnswer);
    expect(await counts()).toMatchObject({ total: 2 * amount, unused: amount, active: amount });
    // What is counted equals what there is, also after the expiry of all.
    await sql(
      server,
      `UPDATE licenses SET expires_at = now() - interval '2 hours' WHERE application_id = $1 AND status = 'active'`,
      [id],
    );
    expect(await counts()).toMatchObject({ unused: amount, active: 0, expired: amount });
    expect(keys).toHaveLength(amount);
  });

  test('of blind keys counts each by its own expiry', { tags: 'slow' }, async () => {
    const owner = await createWorld(server);
    const { id } = await owner.createApplication();
    const keys = Array.from({ length: amount }, (_, index) => blindKey({ durationSeconds: index % 2 }));
    const body = { applicationId: id, startsAt: 'creation', keys };
    expectSuccess(await owner.client.post('/api/v1/licenses/create-blind', body), 201, blindAnswer);
    const stored = await sql(
      server,
      `SELECT status::text, (expires_at - activated_at)::text AS term, count(*)::int AS count
       FROM licenses WHERE application_id = $1 GROUP BY 1, 2 ORDER BY 2`,
      [id],
    );
    expect(stored).toEqual([
      { status: 'active', term: '00:00:01', count: amount / 2 },
      { status: 'active', term: null, count: amount / 2 },
    ]);
    const counted = await sql(
      server,
      `SELECT sum(count)::int AS count FROM (
         SELECT expiry_hour, count FROM license_counts WHERE application_id = $1 AND status = 'active'
         UNION ALL
         SELECT expiry_hour, change FROM license_count_changes WHERE application_id = $1 AND status = 'active'
       ) AS counts GROUP BY expiry_hour ORDER BY expiry_hour`,
      [id],
    );
    expect(counted).toEqual([{ count: amount / 2 }, { count: amount / 2 }]);
  });

  test('is refused if their entitlements and metadata would take more room than notes could', async () => {
    const notes = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`note ${index}`, 'a'.repeat(500)]),
    );
    const policy = await createPolicy({ metadata: { private: notes } });
    const mint = (members: object) =>
      world.client.post('/api/v1/licenses/create', {
        applicationId: application.id,
        policyId: policy.id,
        amount: 1_000,
        ...members,
      });
    const refused = await mint({});
    expectIssue(refused, 'amount');
    expect(refused.body).toMatchObject({ error: expect.stringMatching(/at most 9\d\d licenses/) });
    expectSuccess(await mint({ amount: 20 }), 201, mintedAnswer);
    expectSuccess(await mint({ metadata: {} }), 201, mintedAnswer);
  });
});

describe('the log entry of a mint', () => {
  test('names the policy, and the values that were used', async () => {
    const policy = await createPolicy();
    await world.client.post('/api/v1/licenses/create', {
      applicationId: application.id,
      policyId: policy.id,
      amount: 3,
      subscriptionTier: 5,
    });
    expect(await storedLog(server, application.id, 'licenses_created')).toMatchObject([
      { metadata: { amount: 3, durationSeconds: 86_400, subscriptionTier: 5, policyId: policy.id } },
    ]);
  });
});
