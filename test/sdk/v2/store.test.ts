import { describe, expect } from 'vitest';
import { type ClientStore, createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';

const valid = { kind: 'verdict', valid: true };
const never = () => new Promise<never>(() => {});
const loose = (store: object): ClientStore => Object(store);

/** Stores that fail. */
const broken: [string, ClientStore][] = [
  ['rejects', { read: () => Promise.reject(new Error('no')), write: () => Promise.reject(new Error('no')) }],
  [
    'throws',
    {
      read: () => {
        throw new Error('no');
      },
      write: () => {
        throw new Error('no');
      },
    },
  ],
  ['hangs', { read: never, write: never }],
  ['hangs when it writes', { read: async () => null, write: never }],
  ['returns no promise', loose({ read: () => null, write: () => undefined })],
  ['returns a number', loose({ read: async () => 7, write: async () => 7 })],
  ['returns an object', loose({ read: async () => ({ toString: never }), write: async () => {} })],
  ['returns nonsense', { read: async () => 'AAAA', write: async () => {} }],
  ['returns 10 MB', { read: async () => 'A'.repeat(10_000_000), write: async () => {} }],
];

describe('a store', () => {
  test.for(broken)('that %s fails no call', async ([, store], { server }) => {
    const client = createClient({ ...server.options, store, timeoutMs: 2000 });
    for (let turn = 0; turn < 3; turn += 1) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test.for(broken)('that %s makes no forged answer a verdict', async ([, store], { server }) => {
    server.onCall = ({ sealed, answer }) => sealed(answer, { seed: new Uint8Array(32).fill(3) });
    const client = createClient({ ...server.options, store, timeoutMs: 2000 });
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('without read and write is a TypeError', ({ server }) => {
    for (const store of [{}, { read: async () => null }, 'files', 1]) {
      expect(() => createClient({ ...server.options, store: Object(store) })).toThrow(/^store /);
    }
  });
});
