import { describe, expect } from 'vitest';
import { createClient } from '../../../src/sdk/index.ts';
import { json } from '../stand-in.ts';
import { test } from './fixture.ts';
import { unsigned } from './stand-in.ts';

const minute = 60_000;
const valid = { kind: 'verdict', valid: true };

describe('after KEY_UNKNOWN', () => {
  test('the key is fetched again, and the request sealed again under it', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.rotate({ forget: true });
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(2);
    expect(server.calls.map(({ body }) => body[0])).toEqual([0, 0, 1]);
    expect(server.calls.map(({ request }) => request?.call)).toEqual(['validate', undefined, 'validate']);
  });

  test('forged at every request, the client fetches and asks again once only', async ({ server }) => {
    server.onCall = () => unsigned('KEY_UNKNOWN');
    const client = createClient(server.options);
    expect(await client.validate('K')).toMatchObject({
      kind: 'failure',
      reason: 'server-rejected',
      code: 'KEY_UNKNOWN',
    });
    expect([server.keysAsked, server.calls.length]).toEqual([2, 2]);
    const bodies = server.calls.map(({ body }) => Buffer.from(body.subarray(7, 39)).toString('hex'));
    expect(new Set(bodies).size).toBe(2);
  });

  test('whatever the status and the other members, the request is sent again', async ({ server }) => {
    for (const status of [201, 400, 404, 503]) {
      server.onCall = () => json(status, { code: 'KEY_UNKNOWN' });
      expect(await createClient(server.options).validate('K')).toMatchObject({ kind: 'failure' });
    }
    expect([server.keysAsked, server.calls.length]).toEqual([8, 8]);
  });

  test('of status 200, nothing is fetched', async ({ server }) => {
    server.onCall = () => json(200, { success: false, error: 'No', code: 'KEY_UNKNOWN' });
    expect(await createClient(server.options).validate('K')).toMatchObject({ reason: 'untrusted-answer' });
    expect([server.keysAsked, server.calls.length]).toEqual([1, 1]);
  });

  test('whose fetch fails, there is no answer', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.onCall = () => unsigned('KEY_UNKNOWN');
    server.onKeys = () => unsigned('UNAVAILABLE');
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'unavailable' });
    expect(server.calls).toHaveLength(2);
  });

  test('an older statement is refused, and the request not sent again', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.onCall = () => unsigned('KEY_UNKNOWN');
    server.onKeys = () => ({ status: 200, body: server.statement({ notBefore: 1 }) });
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
    expect(server.calls).toHaveLength(2);
  });

  test('calls at the same time share one fetch', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.rotate({ forget: true });
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => client.validate('K')));
    for (const outcome of outcomes) expect(outcome).toMatchObject(valid);
    expect(server.keysAsked).toBe(2);
  });
});

describe('a signed CLOCK_SKEW', () => {
  test.for([-365 * 24 * 60, -2, 2, 365 * 24 * 60])(
    'corrects a clock that is %d minutes wrong, in memory',
    async (minutes, { server }) => {
      const client = createClient({ ...server.options, now: () => server.clock + minutes * minute });
      expect(await client.validate('K')).toMatchObject(valid);
      expect(server.calls).toHaveLength(2);
      expect(await client.validate('K')).toMatchObject(valid);
      expect(server.calls).toHaveLength(3);
    },
  );

  test('is asked again once, then reported', async ({ server }) => {
    server.onCall = ({ refused }) => refused('CLOCK_SKEW');
    expect(await createClient(server.options).validate('K')).toMatchObject({
      kind: 'failure',
      reason: 'clock',
      code: 'CLOCK_SKEW',
      signed: true,
    });
    expect(server.calls).toHaveLength(2);
  });

  test('without a signature corrects nothing', async ({ server }) => {
    server.onCall = () => ({
      status: 400,
      body: JSON.stringify({ success: false, error: 'Late', code: 'CLOCK_SKEW', time: 1 }),
    });
    const client = createClient(server.options);
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'clock' });
    server.onCall = ({ good }) => good();
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.calls).toHaveLength(2);
  });

  test('after a KEY_UNKNOWN is a third request, and the last', async ({ server }) => {
    server.onCall = ({ refused }) =>
      server.calls.length === 1 ? unsigned('KEY_UNKNOWN') : refused('CLOCK_SKEW');
    expect(await createClient(server.options).validate('K')).toMatchObject({ reason: 'clock' });
    expect(server.calls).toHaveLength(3);
  });
});

describe('a signed answer that judges nothing', () => {
  test.for([
    ['RATE_LIMITED', 'rate-limited'],
    ['UNAVAILABLE', 'unavailable'],
    ['REPLAY', 'server-rejected'],
  ] as const)('%s is a failure, and the request is not sent again', async ([code, reason], { server }) => {
    server.onCall = ({ refused }) => refused(code, { message: 'Später' });
    const client = createClient(server.options);
    const failure = { kind: 'failure', reason, code, message: 'Später', signed: true };
    expect(await client.validate('K')).toEqual(failure);
    expect(await client.login({ username: 'ada', password: 'x' })).toEqual(failure);
    expect(server.calls).toHaveLength(2);
  });

  test('says how long to wait, if the service does', async ({ server }) => {
    server.onCall = ({ refused }) => ({ ...refused('RATE_LIMITED'), headers: { 'retry-after': '17' } });
    expect(await createClient(server.options).validate('K')).toMatchObject({ retryAfterSeconds: 17 });
  });
});
