import { expect } from 'vitest';
import { openPage } from '../browser-bundle.ts';
import { test } from './fixture.ts';
import { appId, type StandIn } from './stand-in.ts';

const valid = { kind: 'verdict', valid: true };

/** The options of a page, which leave the store to the SDK. */
const pageOptions = ({ options }: StandIn) => ({ ...options, store: undefined, now: undefined });

function localStorageOf(items: Map<string, string>) {
  return {
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
  };
}

test('a page keeps the key in localStorage, and its next visit needs one round trip', async ({ server }) => {
  const items = new Map<string, string>();
  for (let visit = 0; visit < 2; visit += 1) {
    const run = await openPage({ options: pageOptions(server), localStorage: localStorageOf(items) });
    expect(await run("latchkey.createClient(options).validate('K', { hwid: 'device-1' })")).toMatchObject(
      valid,
    );
  }
  expect([...items.keys()]).toEqual([`latchkey/${appId}/keys`]);
  expect(server.keysAsked).toBe(1);
});

test('a page without localStorage, or that may not use it, validates too', async ({ server }) => {
  const refused = {
    getItem: () => expect.fail('SecurityError'),
    setItem: () => expect.fail('QuotaExceededError'),
  };
  for (const globals of [{}, { localStorage: refused }, { localStorage: null }]) {
    const run = await openPage({ options: pageOptions(server), ...globals });
    expect(await run("latchkey.createClient(options).validate('K')")).toMatchObject(valid);
  }
});

const subtles: [string, object | undefined][] = [
  ['Web Crypto beyond random bytes, as on a page without https', undefined],
  [
    'X25519 in Web Crypto',
    { generateKey: () => Promise.reject(new DOMException('no', 'NotSupportedError')) },
  ],
  [
    'raw public keys of X25519',
    new Proxy(crypto.subtle, {
      get: (subtle, name) =>
        name === 'importKey' ? () => Promise.reject(new Error('no')) : Reflect.get(subtle, name).bind(subtle),
    }),
  ],
];

test.for(subtles)('a page without %s agrees on keys in JavaScript', async ([, subtle], { server }) => {
  const randomOnly = { getRandomValues: crypto.getRandomValues.bind(crypto), subtle };
  const run = await openPage({ options: pageOptions(server), crypto: randomOnly });
  expect(await run("latchkey.createClient(options).validate('K')")).toMatchObject(valid);
  server.onCall = ({ sealed, answer }) => sealed(answer, { seed: new Uint8Array(32) });
  expect(await run("latchkey.createClient(options).validate('K')")).toMatchObject({
    kind: 'failure',
    reason: 'untrusted-answer',
  });
});
