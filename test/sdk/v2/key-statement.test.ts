import { describe, expect } from 'vitest';
import { encodeBase64 } from '../../../src/protocol/base64.ts';
import { concatBytes } from '../../../src/protocol/bytes.ts';
import { createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { appId, type StandIn, unsigned } from './stand-in.ts';
import { storeInMemory } from './stores.ts';

const valid = { kind: 'verdict', valid: true };
const untrusted = { kind: 'failure', reason: 'untrusted-answer' };
const day = 24 * 60 * 60 * 1000;

/** Wrong statements. Each but the first is well-formed for someone else, or once was. */
const wrong: [string, (server: StandIn) => Uint8Array][] = [
  ['random', () => crypto.getRandomValues(new Uint8Array(121))],
  ['120 bytes', (server) => server.statement().subarray(0, 120)],
  ['122 bytes', (server) => concatBytes(server.statement(), new Uint8Array(1))],
  ['signed with another key', (server) => server.statement({ seed: new Uint8Array(32).fill(3) })],
  [
    'moved from another application',
    (server) => server.statement({ appId: '01890a5d-ac96-774b-bcce-b302099a8058' }),
  ],
  [
    'for another key than the signed one',
    (server) => {
      const bytes = server.statement();
      bytes.fill(9, 83, 115);
      return bytes;
    },
  ],
];

describe('a key statement from the service', () => {
  test.for(wrong)('that is %s is not trusted, and nothing is sent under it', async ([, make], { server }) => {
    server.onKeys = () => ({ status: 200, body: make(server) });
    expect(await createClient(server.options).validate('K')).toMatchObject(untrusted);
    expect(server.calls).toHaveLength(0);
  });

  test('with a public key of small order is not used', async ({ server }) => {
    const smallOrder = Uint8Array.of(1, ...new Uint8Array(31));
    server.onKeys = () => ({ status: 200, body: server.statement({ publicKey: smallOrder }) });
    expect(await createClient(server.options).validate('K')).toMatchObject(untrusted);
    expect(server.calls).toHaveLength(0);
  });

  test('that does not come is a failure, and asked for again by the next call', async ({ server }) => {
    const { onKeys } = server;
    const client = createClient(server.options);
    server.onKeys = () => unsigned('UNAVAILABLE');
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'unavailable' });
    server.onKeys = () => unsigned('APP_NOT_FOUND');
    expect(await client.validate('K')).toMatchObject({ reason: 'server-rejected', code: 'APP_NOT_FOUND' });
    server.onKeys = onKeys;
    expect(await client.validate('K')).toMatchObject(valid);
  });

  test('is fetched once for the first calls of a client', async ({ server }) => {
    const client = createClient(server.options);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => client.validate('K')));
    for (const outcome of outcomes) expect(outcome).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test('is not fetched in vain because one of the first calls is aborted', async ({ server }) => {
    const { onKeys } = server;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      server.onKeys = async () => {
        resolve();
        await released;
        return onKeys();
      };
    });
    const client = createClient(server.options);
    const controller = new AbortController();
    const first = client.validate('K', { signal: controller.signal });
    const second = client.validate('K');
    await arrived;
    controller.abort();
    expect(await first).toMatchObject({ kind: 'failure', reason: 'aborted' });
    release();
    expect(await second).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });
});

describe("the device's clock", () => {
  test('is no reason to refuse a key, only to ask once whether there is a newer one', async ({ server }) => {
    const store = storeInMemory();
    const ahead = { ...server.options, store, now: () => server.clock + 3650 * day };
    const client = createClient(ahead);
    for (let turn = 0; turn < 3; turn += 1) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(2);
    const { onKeys } = server;
    server.onKeys = () => unsigned('UNAVAILABLE');
    expect(await createClient(ahead).validate('K')).toMatchObject(valid);
    server.onKeys = onKeys;
  });

  test('that is behind is no reason either', async ({ server }) => {
    const client = createClient({ ...server.options, now: () => 0 });
    expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });
});

describe('a statement in an answer', () => {
  const withKeys = (server: StandIn, keys: string) => {
    server.onCall = ({ sealed, answer }) => sealed({ ...answer, keys });
  };

  test('is learnt, and the next request is under its key', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.rotate();
    withKeys(server, encodeBase64(server.statement()));
    for (let turn = 0; turn < 2; turn += 1) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.calls.map(({ body }) => body[0])).toEqual([0, 0, 1]);
    expect(server.keysAsked).toBe(1);
  });

  test.for([
    ['signed by another key', (server: StandIn) => server.statement({ seed: new Uint8Array(32).fill(3) })],
    ['older', (server: StandIn) => server.statement({ notBefore: 1 })],
    ['malformed', () => new Uint8Array(121)],
  ] as const)('that is %s has no effect, also not on the verdict', async ([, make], { server }) => {
    const client = createClient(server.options);
    withKeys(server, encodeBase64(make(server)));
    for (let turn = 0; turn < 2; turn += 1) expect(await client.validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test('of an answer that is not trusted is not learnt', async ({ server }) => {
    const client = createClient(server.options);
    await client.validate('K');
    server.rotate();
    server.onCall = ({ sealed, answer }) =>
      sealed({ ...answer, call: 'lease', keys: encodeBase64(server.statement()) });
    expect(await client.validate('K')).toMatchObject(untrusted);
    server.onCall = ({ good }) => good();
    await client.validate('K');
    expect(server.calls.at(-1)?.body[0]).toBe(0);
  });
});

describe('a stored statement', () => {
  test('saves the next run of the program a round trip', async ({ server }) => {
    const store = storeInMemory();
    await createClient({ ...server.options, store }).validate('K');
    expect(store.texts.get(`${appId}/keys`)).toBe(encodeBase64(server.statement()));
    expect(await createClient({ ...server.options, store }).validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test.for(wrong)('that is %s is not used', async ([, make], { server }) => {
    const store = storeInMemory();
    store.texts.set(`${appId}/keys`, encodeBase64(make(server)));
    expect(await createClient({ ...server.options, store }).validate('K')).toMatchObject(valid);
    expect(server.keysAsked).toBe(1);
  });

  test('is a floor: the service may not go back behind it', async ({ server }) => {
    const store = storeInMemory();
    await createClient({ ...server.options, store }).validate('K');
    server.onCall = () => unsigned('KEY_UNKNOWN');
    server.onKeys = () => ({ status: 200, body: server.statement({ notBefore: 1 }) });
    expect(await createClient({ ...server.options, store }).validate('K')).toMatchObject(untrusted);
  });
});
