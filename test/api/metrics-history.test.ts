import { expect, test } from 'vitest';
import { z } from 'zod';
import { lowestId } from '../../src/db/log-partition.ts';
import { newId } from '../../src/lib/ids.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';
import { apiKeyAnswer, expectFailure, expectIssue, expectSuccess, missingId, noLimits } from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));

const time = z.iso.datetime().transform((text) => Date.parse(text));
const historyAnswer = z.strictObject({
  success: z.literal(true),
  history: z.strictObject({
    from: time,
    to: time,
    bucketSeconds: z.int(),
    validations: z.array(z.strictObject({ startsAt: time, code: z.string(), count: z.int() })),
    activations: z.array(z.strictObject({ startsAt: time, count: z.int() })),
    expiries: z.array(z.strictObject({ day: time, count: z.int() })),
    licenses: z.record(z.string(), z.int()),
  }),
});
const ask = (query: Record<string, string>, client = world.client) =>
  client.get(`/api/v1/metrics/history?${new URLSearchParams(query)}`);
async function history(query: Record<string, string>, client = world.client) {
  await server.deps.services.securityLog.flush();
  return expectSuccess(await ask(query, client), 200, historyAnswer).history;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const startOf = (length: number) => Math.floor(server.clock.now() / length) * length;
const validate = async (application: SeededApplication, licenseKey: string) =>
  (await openSession(server, application)).ask(validatePath, { licenseKey });
/** Without the buckets and days that have nothing. */
const some = <Counted extends { count: number }>(all: readonly Counted[]) =>
  all.filter(({ count }) => count > 0);
const atHalfPast = () => server.clock.step((startOf(hour) + 1.5 * hour - server.clock.now()) / 1000);

test.each([
  ['day', hour, 24],
  ['week', 6 * hour, 28],
  ['month', day, 30],
] as const)('a %s has buckets that end with the current one', async (period, length, buckets) => {
  const to = startOf(length) + length;
  const found = await history({ period });
  expect(found).toMatchObject({
    from: to - buckets * length,
    to,
    bucketSeconds: length / 1000,
    validations: [],
  });
  expect(found.activations).toEqual(
    Array.from({ length: buckets }, (_, index) => ({ startsAt: found.from + index * length, count: 0 })),
  );
  expect(found.expiries).toEqual(
    Array.from({ length: 90 }, (_, index) => ({ day: startOf(day) + index * day, count: 0 })),
  );
});

test('verdicts are counted in the bucket of their time, until it is beyond the period', async () => {
  const { id } = await world.createApplication();
  const start = startOf(hour);
  // The ids of entries have the time of the machine, so entries of another time are stored here.
  const log = (at: number, code: string, event = 'license_validated') =>
    sql(
      server,
      `INSERT INTO security_log (id, developer_id, application_id, event, code) VALUES ($1, $2, $3, $4, $5)`,
      [lowestId(at).replace(/.{12}$/, newId().slice(-12)), world.developer.id, id, event, code],
    );
  await log(start - 24 * hour + 59 * minute, 'OK');
  await log(start - 23 * hour, 'OK');
  await log(start - minute, 'OK');
  await log(start - 59 * minute, 'OK');
  await log(start - 30 * minute, 'BANNED');
  await log(start - 30 * minute, 'INVALID_CREDENTIALS', 'user_login_failed');
  const { validations } = await history({ period: 'day' });
  expect(validations).toEqual([
    { startsAt: start - 23 * hour, code: 'OK', count: 1 },
    { startsAt: start - hour, code: 'BANNED', count: 1 },
    { startsAt: start - hour, code: 'OK', count: 2 },
  ]);
  const month = await history({ period: 'month' });
  expect(month.validations.reduce((sum, { count }) => sum + count, 0)).toBe(5);
});

test('first uses are counted in the bucket of their time, until it is beyond the period', async () => {
  const application = await world.createApplication();
  const [first, second] = await application.mint({ amount: 2 });
  atHalfPast();
  const start = startOf(hour);
  await validate(application, first?.licenseKey ?? '');
  await validate(application, first?.licenseKey ?? '');
  server.clock.step(3600);
  await validate(application, second?.licenseKey ?? '');
  const found = await history({ period: 'day' });
  expect(some(found.activations)).toEqual([
    { startsAt: start, count: 1 },
    { startsAt: start + hour, count: 1 },
  ]);
  expect(found.licenses).toMatchObject({ total: 2, active: 2, unused: 0 });
  server.clock.step(23 * 3600);
  const next = await history({ period: 'day' });
  expect(some(next.activations)).toEqual([{ startsAt: start + hour, count: 1 }]);
});

test('expiries are those of active licenses within 90 days, without what has expired', async () => {
  const application = await world.createApplication();
  atHalfPast();
  const uses = async (durationSeconds: number) => {
    const license = await application.mintOne({ durationSeconds });
    await validate(application, license.licenseKey);
    return license;
  };
  const today = startOf(day);
  await uses(10);
  await uses(20 * 60);
  await uses(40 * 86_400);
  await uses(100 * 86_400);
  await uses(0);
  const suspended = await uses(40 * 86_400);
  await world.client.post(`/api/v1/licenses/${suspended.id}/suspend`);
  await application.mintOne({ durationSeconds: 86_400 });
  server.clock.step(60);
  const in40Days = { day: today + 40 * day, count: 1 };
  expect(some((await history({ period: 'day' })).expiries)).toEqual([{ day: today, count: 1 }, in40Days]);
  server.clock.step(20 * 60);
  expect(some((await history({ period: 'day' })).expiries)).toEqual([in40Days]);
});

test('an application has its own figures, and the account those of all that are its own', async () => {
  const [one, two] = [await world.createApplication(), await world.createApplication()];
  const stranger = await createWorld(server);
  const foreign = await stranger.createApplication();
  for (const application of [one, two, two, foreign]) {
    const { licenseKey } = await application.mintOne({ durationSeconds: 86_400 });
    await validate(application, licenseKey);
  }
  // Of an application that was deleted.
  await sql(
    server,
    `INSERT INTO events (id, developer_id, application_id, type, subject_kind, data, created_at)
     VALUES ($1, $2, $3, 'license.activated', 'license', '{}', $4)`,
    [newId(), world.developer.id, newId(), new Date(server.clock.now())],
  );
  const sums = async (query: Record<string, string>, client = world.client) => {
    const found = await history({ period: 'week', ...query }, client);
    const sum = (all: readonly { count: number }[]) => all.reduce((total, { count }) => total + count, 0);
    return [sum(found.validations), sum(found.activations), sum(found.expiries), found.licenses.total];
  };
  expect(await sums({ applicationId: one.id })).toEqual([1, 1, 1, 1]);
  expect(await sums({ applicationId: two.id })).toEqual([2, 2, 2, 2]);
  expect(await sums({})).toEqual([3, 3, 3, 3]);

  for (const applicationId of [foreign.id, missingId, 'garbage']) {
    expectFailure(await ask({ period: 'day', applicationId }), 404, 'APP_NOT_FOUND');
  }
  const made = await world.client.post('/api/v1/account/api-keys', { name: 'bound', applicationId: one.id });
  const bound = new ApiClient(server.baseUrl, {
    bearer: expectSuccess(made, 201, apiKeyAnswer).key.apiKey,
  });
  expect(await sums({}, bound)).toEqual([1, 1, 1, 1]);
  expectFailure(await ask({ period: 'day', applicationId: two.id }, bound), 404, 'APP_NOT_FOUND');
});

test.each([
  [{}, 'period'],
  [{ period: 'year' }, 'period'],
  [{ period: 'day', from: '2026-01-01' }, 'from'],
])('%j is refused', async (query, path) => {
  expectIssue(await ask(query), path);
});
