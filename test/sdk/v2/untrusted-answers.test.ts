import { createServer } from 'node:http';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { randomBytes, utf8 } from '../../../src/protocol/bytes.ts';
import { answerTag, keyTag } from '../../../src/protocol/v2/constants.ts';
import { padded, signedAnswer } from '../../../src/protocol/v2/message.ts';
import { createClient, type Failure } from '../../../src/sdk/index.ts';
import { flipBit } from '../../../src/tools/vectors/material.ts';
import { json, type Reply, type TakeOver } from '../stand-in.ts';
import { test } from './fixture.ts';
import { appId, type CallContext, type StandIn, unsigned } from './stand-in.ts';

const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
const otherSeed = new Uint8Array(32).fill(3);
const html: Reply = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Hi' };
const endless: TakeOver = (response) => {
  response.writeHead(200);
  const write = () => {
    while (!response.destroyed && response.write(' '.repeat(8192)));
  };
  response.on('drain', write);
  write();
};
const brokenOff: TakeOver = (response) => {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"success":true', () => response.destroy());
};

/** Payloads that are not the JSON of the protocol, though correctly signed. */
const payloads: [string, (text: string) => Uint8Array][] = [
  ['with a byte order mark', (text) => padded(`\ufeff${text}`)],
  ['that is not UTF-8', (text) => Uint8Array.of(...padded(text), 0xff)],
  ['with a repeated name', (text) => padded(text.replace('{', '{"code":"OK",'))],
  ['with bytes behind the object', (text) => padded(`${text}x`)],
  ['with two objects', (text) => padded(text + text)],
  ['that is an array', (text) => padded(`[${text}]`)],
  ['that is deeply nested', () => padded('['.repeat(20_000) + ']'.repeat(20_000))],
  ['that is empty', () => new Uint8Array(0)],
];

type Misbehaviour = [string, Failure['reason'], (context: CallContext) => Reply | TakeOver];

const misbehaviours: Misbehaviour[] = [
  // 1: the status is 200, and the answer opens.
  ['a status of 201', 'untrusted-answer', ({ good }) => ({ ...good(), status: 201 })],
  ['a status of 403', 'untrusted-answer', ({ good }) => ({ ...good(), status: 403 })],
  ['HTML', 'untrusted-answer', () => html],
  ['HTML with status 502', 'unavailable', () => ({ ...html, status: 502 })],
  ['HTML with status 429', 'rate-limited', () => ({ ...html, status: 429 })],
  ['nothing', 'untrusted-answer', () => ({ status: 200, body: '' })],
  [
    'an answer without encryption',
    'untrusted-answer',
    ({ answer }) => ({ status: 200, body: padded(JSON.stringify(answer)) }),
  ],
  ['an unsigned success', 'untrusted-answer', () => json(200, { success: true, code: 'OK' })],
  ['47 bytes', 'untrusted-answer', () => ({ status: 200, body: randomBytes(47) })],
  ['111 bytes', 'untrusted-answer', () => ({ status: 200, body: randomBytes(111) })],
  ['random bytes', 'untrusted-answer', () => ({ status: 200, body: randomBytes(400) })],
  ['an endless body', 'untrusted-answer', () => endless],
  ['a body that breaks off', 'network', () => brokenOff],
  ['a closed connection', 'network', () => (response) => response.destroy()],
  ['a redirect', 'network', () => ({ status: 307, headers: { location: '/elsewhere' }, body: '' })],
  [
    'an answer under another secret',
    'untrusted-answer',
    ({ sealed, answer }) => {
      const context = { exportSecret: (_: Uint8Array, length: number) => randomBytes(length) };
      return sealed(answer, { secret: { context, encapsulatedKey: randomBytes(32) } });
    },
  ],
  // 2: the signature.
  [
    'a signature of another key',
    'untrusted-answer',
    ({ sealed, answer }) => sealed(answer, { seed: otherSeed }),
  ],
  [
    'a signature over another request',
    'untrusted-answer',
    ({ sealed, answer }) =>
      sealed(answer, { signed: (payload) => signedAnswer(appId, randomBytes(32), payload) }),
  ],
  [
    'a signature for another application',
    'untrusted-answer',
    ({ sealed, answer }) =>
      sealed(answer, { signed: (payload, hash) => signedAnswer(otherAppId, hash, payload) }),
  ],
  [
    'a signature over another padding',
    'untrusted-answer',
    ({ sealed, answer }) =>
      sealed(answer, { signed: (_, hash) => signedAnswer(appId, hash, utf8(JSON.stringify(answer))) }),
  ],
  [
    'a signature under another tag',
    'untrusted-answer',
    ({ sealed, answer }) =>
      sealed(answer, {
        signed: (payload, hash) =>
          Uint8Array.of(...keyTag, ...signedAnswer(appId, hash, payload).subarray(answerTag.length)),
      }),
  ],
  [
    'a signature of version 1, over the text alone',
    'untrusted-answer',
    ({ sealed, answer }) => sealed(answer, { signed: (payload) => payload }),
  ],
  // 3: what it says.
  ...payloads.map(
    ([what, change]): Misbehaviour => [
      `a payload ${what}`,
      'untrusted-answer',
      ({ sealed, answer }) => sealed(answer, { payload: change(JSON.stringify(answer)) }),
    ],
  ),
  ...[1, 3, '2', null].map(
    (v): Misbehaviour => [
      `v ${JSON.stringify(v)}`,
      'untrusted-answer',
      ({ sealed, answer }) => sealed({ ...answer, v }),
    ],
  ),
  ['another call', 'untrusted-answer', ({ sealed, answer }) => sealed({ ...answer, call: 'lease' })],
  ['no call', 'untrusted-answer', ({ sealed, answer: { call: _, ...rest } }) => sealed(rest)],
  [
    'success and a refusal',
    'untrusted-answer',
    ({ sealed, answer }) => sealed({ ...answer, code: 'BANNED' }),
  ],
  ['OK without success', 'untrusted-answer', ({ refused }) => refused('OK')],
  ['no code', 'untrusted-answer', ({ sealed, answer: { code: _, ...rest } }) => sealed(rest)],
  [
    'success that is a text',
    'untrusted-answer',
    ({ sealed, answer }) => sealed({ ...answer, success: 'true' }),
  ],
  ['no tier', 'untrusted-answer', ({ sealed, answer: { subscriptionTier: _, ...rest } }) => sealed(rest)],
  ['no end', 'untrusted-answer', ({ sealed, answer: { expiresAt: _, ...rest } }) => sealed(rest)],
  // Unsigned errors.
  ['an unsigned 503', 'unavailable', () => unsigned('UNAVAILABLE')],
  ['an unsigned 500', 'unavailable', () => unsigned('INTERNAL')],
  ['an unsigned 429', 'rate-limited', () => unsigned('RATE_LIMITED')],
  ['an unsigned MALFORMED', 'server-rejected', () => unsigned('MALFORMED')],
  ['an unsigned APP_NOT_FOUND', 'server-rejected', () => unsigned('APP_NOT_FOUND')],
  [
    'an unsigned refusal',
    'server-rejected',
    () => json(403, { success: false, error: 'No', code: 'BANNED' }),
  ],
];

describe('no answer is mistaken for a verdict if it is', () => {
  test.for(misbehaviours)('%s (%s)', async ([, reason, misbehave], { server }) => {
    server.onCall = misbehave;
    const outcome = await createClient(server.options).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason });
    expect(outcome).not.toHaveProperty('valid');
    expect(server.calls).toHaveLength(1);
  });

  test('the answer to an earlier request, while the clock is held', async ({ server }) => {
    let recorded: Reply | undefined;
    server.onCall = ({ good }) => {
      recorded ??= good();
      return recorded;
    };
    const client = createClient(server.options);
    expect(await client.validate('K')).toMatchObject({ valid: true });
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
    expect(await createClient(server.options).validate('K')).toMatchObject({ reason: 'untrusted-answer' });
  });

  test('swapped with the answer to another call at the same time', async ({ server }) => {
    const waiting: ((reply: Reply) => void)[] = [];
    const replies: Reply[] = [];
    server.onCall = ({ good }) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        replies.push(good());
        const [first, second] = replies;
        if (first === undefined || second === undefined) return;
        waiting[0]?.(second);
        waiting[1]?.(first);
      });
    const client = createClient(server.options);
    const outcomes = await Promise.all([
      client.validate('K'),
      client.upgrade({ username: 'ada', licenseKey: 'K' }),
    ]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: 'untrusted-answer' });
  });

  test('one with any bit flipped', async ({ server }) => {
    const client = createClient(server.options);
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (position) => {
        server.onCall = ({ good }) => {
          const { status, body } = good();
          const bytes = typeof body === 'string' ? utf8(body) : body;
          return { status, body: flipBit(bytes, position % (bytes.length * 8)) };
        };
        expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
      }),
      { numRuns: 60 },
    );
  });
});

test('members of later services are ignored', async ({ server }) => {
  server.onCall = ({ sealed, answer }) => sealed({ ...answer, later: { a: [1] } });
  expect(await createClient(server.options).validate('K')).toMatchObject({ valid: true });
});

describe('the transport', () => {
  test('follows no redirect, even to a server that would answer', async ({ server }) => {
    let reached = 0;
    const target = createServer((_request, response) => {
      reached++;
      response.end('{}');
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const address = target.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const away: Reply = { status: 307, headers: { location: `http://127.0.0.1:${port}/` }, body: '' };
    for (const which of ['onKeys', 'onCall'] as const) {
      const own = server[which];
      server[which] = () => away;
      expect(await createClient(server.options).validate('K')).toMatchObject({ kind: 'failure' });
      Object.assign(server, { [which]: own });
    }
    expect(reached).toBe(0);
    await new Promise((resolve) => target.close(resolve));
  });

  test('refuses the answer of a fetch that followed a redirect', async ({ server }) => {
    const following: typeof globalThis.fetch = (url, init) =>
      // Node.js sends a Blob again after a redirect, and bytes only once.
      fetch(url, {
        ...init,
        redirect: 'follow',
        body: init?.body instanceof Uint8Array ? new Blob([Uint8Array.from(init.body)]) : null,
      });
    const { onCall } = server;
    let redirected = false;
    server.onCall = (context) => {
      if (redirected) return onCall(context);
      redirected = true;
      return { status: 307, headers: { location: '/api/v2/call' }, body: '' };
    };
    const outcome = await createClient({ ...server.options, fetch: following }).validate('K');
    expect(redirected).toBe(true);
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('stops reading an endless body', async ({ server }) => {
    const watched = (which: 'onKeys' | 'onCall', target: StandIn) =>
      new Promise<void>((resolve) => {
        target[which] = () => (response) => {
          response.on('close', resolve);
          endless(response);
        };
      });
    const { onKeys } = server;
    for (const which of ['onKeys', 'onCall'] as const) {
      const closed = watched(which, server);
      expect(await createClient(server.options).validate('K')).toMatchObject({ reason: 'untrusted-answer' });
      await closed;
      server.onKeys = onKeys;
    }
  });

  test('sends no cookies, and lets nothing be cached', async ({ server }) => {
    const sent: (RequestInit | undefined)[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      sent.push(init);
      return globalThis.fetch(url, init);
    };
    await createClient({ ...server.options, fetch }).validate('K');
    expect(sent).toHaveLength(2);
    for (const init of sent) {
      expect(init).toMatchObject({ credentials: 'omit', redirect: 'error', cache: 'no-store' });
    }
  });
});
