import { describe, expect } from 'vitest';
import { createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';

describe('a call', () => {
  test.for(['onKeys', 'onCall'] as const)('times out while %s hangs', async (which, { server }) => {
    server[which] = () => () => {};
    const outcome = await createClient({ ...server.options, timeoutMs: 300 }).validate('K');
    expect(outcome).toEqual({ kind: 'failure', reason: 'timeout', message: 'No answer within 300 ms' });
  });

  test('times out while a body arrives slowly', async ({ server }) => {
    server.onCall = () => (response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    const outcome = await createClient({ ...server.options, timeoutMs: 300 }).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'timeout' });
  });

  test('times out although its fetch ignores the signal', async ({ server }) => {
    const fetch: typeof globalThis.fetch = () => new Promise(() => {});
    const outcome = await createClient({ ...server.options, fetch, timeoutMs: 20 }).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'timeout' });
  });

  test.for([
    [undefined, 10_000],
    [5000, 5000],
    [30_000, 30_000],
    [60_000, 30_000],
  ] as const)('with timeoutMs %s drops an answer after %d ms', async ([timeoutMs, limit], { server }) => {
    // The timers are not late; the run time is what a suspended machine finds when it wakes up.
    let runTime = 0;
    const options = { ...server.options, ...(timeoutMs && { timeoutMs }), runTime: () => runTime };
    const client = createClient(options);
    server.onCall = ({ good }) => {
      runTime += limit;
      return good();
    };
    expect(await client.validate('K')).toMatchObject({ kind: 'verdict', valid: true });
    server.onCall = ({ good }) => {
      runTime += limit + 1;
      return good();
    };
    expect(await client.validate('K')).toEqual({
      kind: 'failure',
      reason: 'timeout',
      message: `No answer within ${limit} ms`,
    });
  });

  test('whose signal is aborted beforehand sends nothing', async ({ server }) => {
    const outcome = await createClient(server.options).validate('K', { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted' });
    expect([server.keysAsked, server.calls.length]).toEqual([0, 0]);
  });

  test.for(['onKeys', 'onCall'] as const)('can be aborted while %s hangs', async (which, { server }) => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => {
      server[which] = () => (response) => {
        response.on('close', resolve);
        controller.abort();
      };
    });
    const outcome = await createClient(server.options).validate('K', { signal: controller.signal });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted' });
    await closed;
  });

  test('without a server is a network failure with its cause', async ({ server }) => {
    const baseUrl = 'http://127.0.0.1:1';
    const outcome = await createClient({ ...server.options, baseUrl }).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'network' });
    expect(outcome).toHaveProperty('cause');
  });
});
