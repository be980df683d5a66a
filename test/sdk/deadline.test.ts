import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { createClient } from '../../src/sdk/index.ts';
import { test } from './fixture.ts';

/** A handler that leaves its requests open and reports each. */
function hanging() {
  const waiting: ServerResponse[] = [];
  let arrived = (_response: ServerResponse) => {};
  return {
    handler: () => (response: ServerResponse) => {
      waiting.push(response);
      arrived(response);
    },
    next: () =>
      new Promise<ServerResponse>((resolve) => {
        const first = waiting.shift();
        if (first === undefined) arrived = resolve;
        else resolve(first);
      }),
  };
}

describe('a call', () => {
  test.for(['onInit', 'onValidate'] as const)('times out while %s hangs', async (which, { server }) => {
    server[which] = () => () => {};
    const outcome = await createClient({ ...server.options, timeoutMs: 300 }).validate('K');
    expect(outcome).toEqual({ kind: 'failure', reason: 'timeout', message: 'No answer within 300 ms' });
  });

  test('times out while a body arrives slowly', async ({ server }) => {
    server.onValidate = () => (response) => {
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

  test('whose signal is aborted beforehand sends nothing', async ({ server }) => {
    const why = new Error('not today');
    const outcome = await createClient(server.options).validate('K', { signal: AbortSignal.abort(why) });
    expect(outcome).toEqual({
      kind: 'failure',
      reason: 'aborted',
      message: 'The call was aborted',
      cause: why,
    });
    expect(server.seen).toHaveLength(0);
  });

  test.for(['onInit', 'onValidate'] as const)('can be aborted while %s hangs', async (which, { server }) => {
    const { handler, next } = hanging();
    server[which] = handler;
    const controller = new AbortController();
    const outcome = createClient(server.options).validate('K', { signal: controller.signal });
    const response = await next();
    controller.abort();
    expect(await outcome).toMatchObject({ kind: 'failure', reason: 'aborted' });
    if (!response.destroyed) await once(response, 'close');
  });

  test('that is aborted does not abort the handshake of others', async ({ server }) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    server.onInit = async ({ good }) => {
      arrived();
      await released;
      return good();
    };
    const client = createClient(server.options);
    const controller = new AbortController();
    const first = client.validate('K', { signal: controller.signal });
    const second = client.validate('K');
    await arrival;
    controller.abort();
    expect(await first).toMatchObject({ kind: 'failure', reason: 'aborted' });
    release();
    expect(await second).toMatchObject({ kind: 'verdict', valid: true });
    expect(server.count('sessionInit')).toBe(1);
  });

  test('after an aborted handshake opens its own', async ({ server }) => {
    const { onInit } = server;
    const { handler, next } = hanging();
    server.onInit = handler;
    const client = createClient(server.options);
    const controller = new AbortController();
    const first = client.validate('K', { signal: controller.signal });
    await next();
    controller.abort();
    expect(await first).toMatchObject({ reason: 'aborted' });
    server.onInit = onInit;
    expect(await client.validate('K')).toMatchObject({ valid: true });
    expect(server.count('sessionInit')).toBe(2);
  });

  test('leaves no listener on the signal of its caller', async ({ server }) => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    await createClient(server.options).validate('K', { signal });
    expect(listeners).toBe(0);
  });
});
