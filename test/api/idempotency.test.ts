import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { insertLicenses } from '../graphql/rows.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, expectIssue, noLimits } from './support.ts';

/** Changes that a client sends again with the same Idempotency-Key. That each operation takes one: test/graphql. */

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const minted = z.object({ keys: z.array(z.object({ id: z.string(), licenseKey: z.string() })) });
const mintPath = '/api/v1/licenses/create';
const newKey = () => randomUUID();
const withKey = (client: ApiClient, key: string) => client.with({ headers: { 'Idempotency-Key': key } });
const order = (amount = 2) => ({ applicationId: application.id, amount, durationSeconds: 60 });
const keysOf = ({ body }: ApiAnswer) => minted.parse(body).keys.map(({ licenseKey }) => licenseKey);
const isReplayed = ({ headers }: ApiAnswer) => headers.get('Idempotent-Replayed') === 'true';
async function newApiKey(): Promise<string> {
  const { body } = await world.client.post('/api/v1/account/api-keys', { name: 'A script' });
  return z.object({ key: z.object({ apiKey: z.string() }) }).parse(body).key.apiKey;
}
async function licenseCount(): Promise<number> {
  const [row] = await sql<{ count: number }>(
    server,
    'SELECT count(*)::int AS count FROM licenses WHERE application_id = $1',
    [application.id],
  );
  return row?.count ?? -1;
}

describe('a key', () => {
  test('has 16 to 255 printable ASCII characters', async () => {
    for (const key of [
      'a'.repeat(15),
      'a'.repeat(256),
      `${'a'.repeat(16)}\u00e9`,
      `${'a'.repeat(8)}\t${'a'.repeat(8)}`,
    ]) {
      expectIssue(await withKey(world.client, key).post(mintPath, order()), 'Idempotency-Key');
    }
    expect(await licenseCount()).toBe(0);
    for (const key of ['a'.repeat(16), `"${newKey()}"`, `${'~ '.repeat(127)}~`]) {
      expect((await withKey(world.client, key).post(mintPath, order(1))).status).toBe(201);
    }
  });

  test('belongs to one request: another body, path or credential needs another key', async () => {
    const key = newKey();
    const first = await withKey(world.client, key).post(mintPath, order());
    expect(first.status).toBe(201);
    for (const body of [order(3), { ...order(), note: 'another' }]) {
      expectFailure(await withKey(world.client, key).post(mintPath, body), 422, 'IDEMPOTENCY_MISMATCH');
    }
    const script = new ApiClient(server.baseUrl, { bearer: await newApiKey() });
    expectFailure(await withKey(script, key).post(mintPath, order()), 422, 'IDEMPOTENCY_MISMATCH');
    const [license] = minted.parse(first.body).keys;
    const path = `/api/v1/licenses/${license?.id}`;
    expect((await withKey(world.client, key).post(`${path}/suspend`, {})).status).toBe(200);
    expect((await withKey(world.client, key).delete(path)).status).toBe(200);
    expect(await licenseCount()).toBe(1);
  });

  test('takes the same JSON in another spelling', async () => {
    const client = withKey(world.client, newKey());
    const first = await client.post(mintPath, order());
    const again = await client.post(
      mintPath,
      `{ "durationSeconds": 6.0e1,\n "amount": 2, "applicationId": "${application.id}" }`,
    );
    expect(again.body).toEqual(first.body);
    expect(isReplayed(again)).toBe(true);
  });

  test('of one account says nothing about the same key of another', async () => {
    const key = newKey();
    const other = await createWorld(server);
    const ofOther = await other.createApplication();
    const first = await withKey(world.client, key).post(mintPath, order());
    const second = await withKey(other.client, key).post(mintPath, {
      ...order(),
      applicationId: ofOther.id,
    });
    expect(isReplayed(second)).toBe(false);
    expect(keysOf(second)).not.toEqual(keysOf(first));
  });

  test('is ignored by reads', async () => {
    const client = withKey(world.client, 'short');
    expect((await client.get(`/api/v1/apps/${application.id}`)).status).toBe(200);
  });
});

test('of 50 equal requests at once, one mints; the others get its keys, or are told to wait', async () => {
  const client = withKey(world.client, newKey());
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.post(mintPath, order())));
  const successes = answers.filter(({ status }) => status === 201);
  expect(successes.filter((answer) => !isReplayed(answer))).toHaveLength(1);
  expect(new Set(successes.map((answer) => keysOf(answer).join())).size).toBe(1);
  for (const answer of answers.filter(({ status }) => status !== 201)) {
    expectFailure(answer, 409, 'IDEMPOTENCY_IN_PROGRESS');
    expect(answer.headers.get('Retry-After')).toBe('1');
  }
  expect(await licenseCount()).toBe(2);
});

/** Mints, and loses the connection at a random time after the request was sent. */
async function mintAndLose(client: ApiClient, milliseconds: number): Promise<void> {
  const lost = new AbortController();
  const answer = client.open('POST', mintPath, order(), lost.signal).catch(() => undefined);
  await sleep(randomInt(milliseconds));
  lost.abort();
  await answer;
}

async function untilAnswered(client: ApiClient, tries = 100): Promise<ApiAnswer> {
  const answer = await client.post(mintPath, order());
  if (answer.status !== 409 || tries === 0) return answer;
  await sleep(50);
  return untilAnswered(client, tries - 1);
}

async function loseAndRepeat(rounds: number): Promise<number> {
  let replayed = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const client = withKey(world.client, newKey());
    await mintAndLose(client, 40);
    const answer = await untilAnswered(client);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(keysOf(await client.post(mintPath, order()))).toEqual(keysOf(answer));
    const stored = await sql<{ id: string }>(server, 'SELECT id FROM licenses WHERE id = ANY($1)', [
      minted.parse(answer.body).keys.map(({ id }) => id),
    ]);
    expect(stored).toHaveLength(2);
    expect(await licenseCount()).toBe(2 * round);
    if (isReplayed(answer)) replayed += 1;
  }
  return replayed;
}

test('a mint whose connection is lost at any time is made once, and its keys are not lost', async () => {
  await loseAndRepeat(20);
});

test('the same at 200 random times, many of them after the commit', { tags: 'slow' }, async () => {
  expect(await loseAndRepeat(200)).toBeGreaterThan(20);
});

describe('a repeated request', () => {
  test('that was refused is judged again: refusals are not stored', async () => {
    const license = await application.mintOne();
    const client = withKey(world.client, newKey());
    const path = `/api/v1/licenses/${license.id}`;
    expectFailure(await client.post(`${path}/reinstate`), 409, 'INVALID_TRANSITION');
    expectFailure(
      await client.post(`${path}/renew`, { seconds: 0, basis: 'from_now' }),
      400,
      'VALIDATION_FAILED',
    );
    expect((await world.client.post(`${path}/suspend`, {})).status).toBe(200);
    const reinstated = await client.post(`${path}/reinstate`);
    expect([reinstated.status, isReplayed(reinstated)]).toEqual([200, false]);
  });

  test('gets its keys although the policy was deleted, and the limit of new licenses is reached, since', async () => {
    const policies = `/api/v1/apps/${application.id}/policies`;
    const created = await world.client.post(policies, { code: 'short', name: 'Short', durationSeconds: 60 });
    const { policy } = z.object({ policy: z.object({ id: z.string() }) }).parse(created.body);
    const client = withKey(world.client, newKey());
    const body = { applicationId: application.id, amount: 1, policyId: policy.id };
    const first = await client.post(mintPath, body);
    expect((await world.client.delete(`${policies}/${policy.id}`)).status).toBe(200);
    const again = await client.post(mintPath, body);
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  test('that has changed the password it sends is not refused for it', async () => {
    const own = await createWorld(server);
    const client = withKey(own.client, newKey());
    const change = { password: own.developer.password, newPassword: 'another good password' };
    const path = '/api/v1/account/profile';
    const first = await client.patch(path, change);
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const cookie = first.headers.get('set-cookie')?.match(/service_session=([^;]+)/)?.[1] ?? '';
    const again = await client.with({ cookie }).patch(path, change);
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  test('is answered after the master secret was replaced', async ({ skip }) => {
    const { SERVICE_SECRET: secret } = server.databaseEnv;
    if (secret === undefined) return skip('needs a database that two instances share');
    const next = await startTestServer({
      beside: server,
      env: {
        ...noLimits,
        SERVICE_SECRET: randomBytes(32).toString('base64'),
        SERVICE_SECRET_PREVIOUS: secret,
      },
    });
    onTestFinished(() => next.close());
    const key = newKey();
    const bearer = await newApiKey();
    const send = (baseUrl: string) =>
      withKey(new ApiClient(baseUrl, { bearer }), key).post(mintPath, order());
    const first = await send(server.baseUrl);
    const again = await send(next.baseUrl);
    expect([again.body, isReplayed(again)]).toEqual([first.body, true]);
  });

  test('is made once while two instances have different master secrets', async ({ skip }) => {
    const { SERVICE_SECRET: secret } = server.databaseEnv;
    if (secret === undefined) return skip('needs a database that two instances share');
    const fresh = randomBytes(32).toString('base64');
    const secrets = [
      { SERVICE_SECRET: secret, SERVICE_SECRET_PREVIOUS: fresh },
      { SERVICE_SECRET: fresh, SERVICE_SECRET_PREVIOUS: secret },
    ];
    const instances = await Promise.all(
      secrets.map((env) => startTestServer({ beside: server, env: { ...noLimits, ...env } })),
    );
    onTestFinished(async () => {
      for (const instance of instances) await instance.close();
    });
    const bearer = await newApiKey();
    for (let round = 0; round < 5; round += 1) {
      const key = newKey();
      const answers = await Promise.all(
        instances.map(({ baseUrl }) =>
          withKey(new ApiClient(baseUrl, { bearer }), key).post(mintPath, order(200)),
        ),
      );
      const made = answers.filter((answer) => answer.status === 201 && !isReplayed(answer));
      expect(made).toHaveLength(1);
    }
  });
});

describe('what is stored', () => {
  test('is no key, neither of a license nor of a request', async () => {
    const key = newKey();
    const answer = await withKey(world.client, key).post(mintPath, order());
    const [row] = await sql<{ row: string }>(
      server,
      `SELECT row_to_json(stored)::text || encode(answer_encrypted, 'escape') || encode(request_hash, 'escape') AS row
       FROM idempotent_answers AS stored WHERE developer_id = $1 ORDER BY created_at DESC LIMIT 1`,
      [world.developer.id],
    );
    for (const secret of [...keysOf(answer), key]) expect(row?.row).not.toContain(secret);
    expect(server.logLines.join('')).not.toContain(key);
  });
});

describe('a change of many licenses', () => {
  const expiries = async () => {
    const rows = await sql<{ id: string; expires: string }>(
      server,
      `SELECT id, extract(epoch FROM expires_at)::bigint::text AS expires FROM licenses WHERE application_id = $1 ORDER BY id`,
      [application.id],
    );
    return new Map(rows.map(({ id, expires }) => [id, Number(expires)]));
  };
  const outcome = z.object({ changed: z.int(), results: z.array(z.object({ outcome: z.string() })) });

  test('that lost its connection between two slices goes on where it was, and changes each license once', async () => {
    const at = new Date(server.clock.now()).toISOString();
    const expires_at = new Date(server.clock.now() + 86_400_000).toISOString();
    await insertLicenses(
      server,
      application.id,
      Array.from({ length: 150 }, () => ({ status: 'active', activated_at: at, expires_at })),
    );
    const before = await expiries();
    const client = withKey(world.client, newKey());
    const path = `/api/v1/apps/${application.id}/licenses/bulk`;
    const body = { action: 'extend', filter: { status: ['active'] }, params: { seconds: 3_600 } };
    for (let round = 0; round < 4; round += 1) {
      const lost = new AbortController();
      const answer = client.open('POST', path, body, lost.signal).catch(() => undefined);
      await sleep(randomInt(150));
      lost.abort();
      await answer;
    }
    const repeat = async (tries = 100): Promise<ApiAnswer> => {
      const answer = await client.post(path, body);
      if (answer.status !== 409 || tries === 0) return answer;
      await sleep(50);
      return repeat(tries - 1);
    };
    const done = await repeat();
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    const { changed, results } = outcome.parse(done.body);
    expect([changed, results.length]).toEqual([150, 150]);
    const after = await expiries();
    expect([...after].map(([id, expires]) => expires - (before.get(id) ?? 0))).toEqual(
      Array(150).fill(3_600),
    );
    const again = await client.post(path, body);
    expect(isReplayed(again)).toBe(true);
    expect(outcome.parse(again.body)).toEqual({ changed, results });
    expect(await expiries()).toEqual(after);
  });

  test('that found none is not made later, and one that has become too large is still answered', async () => {
    const path = `/api/v1/apps/${application.id}/licenses/bulk`;
    const extend = { action: 'extend', filter: {}, params: { seconds: 3_600 } };
    const client = withKey(world.client, newKey());
    const first = await client.post(path, extend);
    expect(first.body).toMatchObject({ success: true, changed: 0, results: [] });
    await application.mintOne();
    const again = await client.post(path, extend);
    expect([again.body, isReplayed(again)]).toEqual([first.body, true]);
    const tag = { action: 'addTags', filter: {}, params: { tags: ['old'] } };
    const large = withKey(world.client, newKey());
    const tagged = await large.post(path, tag);
    expect(tagged.body).toMatchObject({ changed: 1 });
    await insertLicenses(
      server,
      application.id,
      Array.from({ length: 10_000 }, () => ({ status: 'unused' })),
    );
    const repeated = await large.post(path, tag);
    expect([repeated.body, isReplayed(repeated)]).toEqual([tagged.body, true]);
  });
});

test('a login takes no key: it is judged and logged each time, whoever is signed in', async () => {
  const victim = await createWorld(server);
  const client = withKey(world.client, newKey());
  const login = (password: string) =>
    client.post('/graphql', {
      query: 'mutation ($i: LoginInput!) { login(input: $i) { developer { id } } }',
      variables: { i: { email: victim.developer.email, password } },
    });
  for (const wrong of ['one wrong password', 'another wrong one'])
    expect(JSON.stringify((await login(wrong)).body)).toContain('INVALID_CREDENTIALS');
  expect((await login(victim.developer.password)).body).not.toHaveProperty('errors');
  const failures = () =>
    sql(server, `SELECT id FROM security_log WHERE developer_id = $1 AND event = 'developer_login_failed'`, [
      victim.developer.id,
    ]);
  await expect.poll(async () => (await failures()).length).toBe(2);
});

test('what an account can have stored within a minute is limited, and beyond nothing is changed', async () => {
  const limits = noLimits.RATE_LIMITS.replace('answerKilobytes=100000', 'answerKilobytes=5');
  const limited = await startTestServer({ env: { ...noLimits, RATE_LIMITS: limits } });
  onTestFinished(() => limited.close());
  const own = await createWorld(limited);
  const { id } = await own.createApplication();
  const mint = (headers: Record<string, string>) =>
    own.client.with({ headers }).post(mintPath, { applicationId: id, amount: 20, durationSeconds: 60 });
  const count = async () => (await sql(limited, 'SELECT id FROM licenses')).length;
  let stored = 0;
  let answer = await mint({ 'Idempotency-Key': newKey() });
  for (; answer.status === 201; answer = await mint({ 'Idempotency-Key': newKey() })) stored += 1;
  expectFailure(answer, 429, 'RATE_LIMITED');
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThan(5);
  expect(await count()).toBe(20 * stored);
  expect((await mint({})).status).toBe(201);
});

test('a change of many that reaches this limit tells what it changed, and goes on later', async () => {
  const limits = noLimits.RATE_LIMITS.replace('answerKilobytes=100000', 'answerKilobytes=14');
  const limited = await startTestServer({ env: { ...noLimits, RATE_LIMITS: limits } });
  onTestFinished(() => limited.close());
  const own = await createWorld(limited);
  const made = await own.createApplication();
  const ids = (await made.mint({ amount: 150 })).map(({ id }) => id);
  const client = withKey(own.client, newKey());
  const ban = () => client.post(`/api/v1/apps/${made.id}/licenses/bulk`, { action: 'ban', ids });
  const counted = z.object({ changed: z.int(), skippedByCode: z.record(z.string(), z.int()) });
  const banned = async () => (await sql(limited, "SELECT FROM licenses WHERE status = 'banned'")).length;
  const first = await ban();
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  const { changed, skippedByCode } = counted.parse(first.body);
  expect([changed > 0, changed < 150]).toEqual([true, true]);
  expect(skippedByCode).toEqual({ RATE_LIMITED: 150 - changed });
  expect(await banned()).toBe(changed);
  expectFailure(
    await withKey(own.client, newKey()).post(`/api/v1/apps/${made.id}/licenses/bulk`, {
      action: 'unban',
      ids,
    }),
    429,
    'RATE_LIMITED',
  );
  expect(await banned()).toBe(changed);
});

test('each mutation of a document is carried out once', async () => {
  const { id } = await application.mintOne({ durationSeconds: 60 });
  const client = withKey(world.client, newKey());
  const renew = (name: string, seconds: number) =>
    `${name}: renewLicense(input: { id: "${id}", seconds: ${seconds}, basis: from_expiry }) { license { durationSeconds } }`;
  const ask = async (query: string) => (await client.post('/graphql', { query })).body;
  const both = `mutation { ${renew('one', 10)} ${renew('two', 5)} }`;
  const first = await ask(both);
  expect(first).toMatchObject({ data: { two: { license: { durationSeconds: 75 } } } });
  // What is below a mutation is read again.
  expect(await ask(both)).toMatchObject({ data: { two: { license: { durationSeconds: 75 } } } });
  expect(await ask(`mutation { ${renew('one', 11)} }`)).toMatchObject({
    errors: [{ extensions: { code: 'IDEMPOTENCY_MISMATCH' } }],
  });
});
