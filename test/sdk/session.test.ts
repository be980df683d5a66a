import { describe, expect } from 'vitest';
import { createClient } from '../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { json, refusal } from './stand-in.ts';

const minutes = 60_000;
const valid = { kind: 'verdict', valid: true };

describe('a session', () => {
  test('is opened by the first call and used by the next ones', async ({ server }) => {
    const client = createClient(server.options);
    expect(server.seen).toHaveLength(0);
    for (let call = 0; call < 3; call++) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(1);
    expect(server.count('validate')).toBe(3);
  });

  test('is opened once for concurrent calls', async ({ server }) => {
    const client = createClient(server.options);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => client.validate('K')));
    for (const outcome of outcomes) expect(outcome).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(1);
  });

  test('is not shared between clients', async ({ server }) => {
    await createClient(server.options).validate('K');
    await createClient(server.options).validate('K');
    expect(server.count('sessionInit')).toBe(2);
  });

  test('is renewed a minute before its end and not earlier', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.clock += 14 * minutes - 1;
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(1);
    server.clock += 1;
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(2);
  });

  test('is renewed if the clock was set back', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.clock -= 30 * minutes;
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(2);
  });

  test('that the server has forgotten is renewed, and the request sealed again', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.forgetSessions();
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.seen.map(({ path }) => path.split('/').at(-1))).toEqual([
      'init',
      'validate',
      'validate',
      'init',
      'validate',
    ]);
    const [, refused, again] = server.seen
      .filter(({ path }) => path.endsWith('validate'))
      .map(({ body }) => Object(body));
    expect(again.ivB64).not.toBe(refused.ivB64);
    expect(again.sessionId).not.toBe(refused.sessionId);
  });

  test('that the server never accepts is renewed once, then reported', async ({ server }) => {
    server.onValidate = () => refusal('SESSION_EXPIRED');
    expect(await createClient(server.options).validate('K')).toMatchObject({
      kind: 'failure',
      reason: 'server-rejected',
      code: 'SESSION_EXPIRED',
    });
    expect(server.count('sessionInit')).toBe(2);
    expect(server.count('validate')).toBe(2);
  });

  test('is renewed once for all calls with the forgotten session', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.forgetSessions();
    let arrived = 0;
    let release = () => {};
    const allArrived = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.onValidate = async ({ good }) => {
      arrived++;
      if (arrived === 5) release();
      await allArrived;
      return good();
    };
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => client.validate('K')));
    for (const outcome of outcomes) expect(outcome).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(2);
  });

  test.for(['DECRYPT_FAIL', 'untrusted'] as const)(
    'is not used again after %s, and the call is not retried',
    async (what, { server }) => {
      const client = createClient(server.options);
      await client.validate('K');
      const { onValidate } = server;
      server.onValidate = () => (what === 'untrusted' ? json(200, { success: true }) : refusal(what));
      expect(await client.validate('K')).toMatchObject({ kind: 'failure' });
      expect(server.count('validate')).toBe(2);
      expect(server.count('sessionInit')).toBe(1);
      server.onValidate = onValidate;
      expect(await client.validate('K')).toMatchObject(valid);
      expect(server.count('sessionInit')).toBe(2);
    },
  );

  test('is kept after failures that are not about it', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    const { onValidate } = server;
    for (const code of ['RATE_LIMITED', 'UNAVAILABLE', 'REPLAY', 'CLOCK_SKEW'] as const) {
      server.onValidate = () => refusal(code);
      expect(await client.validate('K')).toMatchObject({ kind: 'failure', code });
    }
    server.onValidate = onValidate;
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.count('sessionInit')).toBe(1);
  });

  test('that could not be opened is opened by the next call', async ({ server }) => {
    const client = createClient(server.options);
    const { onInit } = server;
    server.onInit = () => refusal('UNAVAILABLE');
    const failed = await Promise.all([client.validate('K'), client.validate('K')]);
    for (const outcome of failed) expect(outcome).toMatchObject({ reason: 'unavailable' });
    expect(server.count('sessionInit')).toBe(1);
    server.onInit = onInit;
    expect(await client.validate('K')).toMatchObject(valid);
  });
});
