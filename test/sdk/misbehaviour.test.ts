import { createServer } from 'node:http';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { encodeBase64 } from '../../src/protocol/base64.ts';
import { randomBytes } from '../../src/protocol/bytes.ts';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { clientPaths } from '../../src/protocol/constants.ts';
import { createClient, type Failure } from '../../src/sdk/index.ts';
import { flipBit } from '../../src/tools/vectors/material.ts';
import { test } from './fixture.ts';
import { json, type Reply, refusal, type StandIn, type TakeOver } from './stand-in.ts';

type Misbehaviour = [what: string, reason: Failure['reason'], misbehave: (server: StandIn) => void];

const wrongSeed = new Uint8Array(32).fill(3);
const html: Reply = { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>Hi' };
const redirectTo = (path: string): Reply => ({ status: 307, headers: { location: path }, body: '' });
/** Writes while the client reads. */
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
const noAnswer: TakeOver = (response) => response.destroy();

/** Wrong responses of either endpoint. */
const anywhere: [string, Failure['reason'], Reply | TakeOver][] = [
  ['HTML', 'untrusted-answer', html],
  ['HTML with HTTP 404', 'untrusted-answer', { ...html, status: 404 }],
  ['HTML with HTTP 502', 'unavailable', { ...html, status: 502 }],
  ['HTML with HTTP 429', 'rate-limited', { ...html, status: 429 }],
  ['HTTP 500', 'unavailable', json(500, { success: false, error: 'Sorry', code: 'INTERNAL' })],
  ['nothing', 'untrusted-answer', { status: 200, body: '' }],
  ['HTTP 204', 'untrusted-answer', { status: 204, body: '' }],
  ['an unsealed success', 'untrusted-answer', json(200, { success: true, code: 'OK', message: 'OK' })],
  ['an unsealed success with HTTP 201', 'untrusted-answer', json(201, { success: true, code: 'OK' })],
  [
    'an unsealed refusal with HTTP 200',
    'untrusted-answer',
    json(200, { success: false, error: 'No', code: 'X' }),
  ],
  ['a success with HTTP 403', 'untrusted-answer', json(403, { success: true, code: 'OK' })],
  ['a refusal without a code', 'untrusted-answer', json(403, { success: false, error: 'No' })],
  ['JSON null', 'untrusted-answer', json(200, null)],
  ['deeply nested JSON', 'untrusted-answer', { status: 200, body: '['.repeat(30_000) + ']'.repeat(30_000) }],
  ['bytes that are not UTF-8', 'untrusted-answer', { status: 200, body: new Uint8Array([0x22, 0xff, 0x22]) }],
  ['an endless body', 'untrusted-answer', endless],
  ['a body that breaks off', 'network', brokenOff],
  ['a closed connection', 'network', noAnswer],
  ['a redirect', 'network', redirectTo(clientPaths.validate)],
];

const cases: Misbehaviour[] = [
  ...anywhere.flatMap(([what, reason, reply]): Misbehaviour[] => [
    [
      `the handshake is answered by ${what}`,
      reason,
      (server) => {
        server.onInit = () => reply;
      },
    ],
    [
      `validate is answered by ${what}`,
      reason,
      (server) => {
        server.onValidate = () => reply;
      },
    ],
  ]),
  [
    'the handshake is signed with another key',
    'untrusted-answer',
    (server) => {
      server.onInit = ({ signed }) => signed({ seed: wrongSeed });
    },
  ],
  [
    'the handshake is stale',
    'clock',
    (server) => {
      server.onInit = ({ signed }) => signed({ timestamp: Math.floor(server.clock / 1000) - 61 });
    },
  ],
  [
    'the handshake is from the future',
    'clock',
    (server) => {
      server.onInit = ({ signed }) => signed({ timestamp: Math.floor(server.clock / 1000) + 61 });
    },
  ],
  [
    'the answer is signed with another key',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed(inner, { seed: wrongSeed });
    },
  ],
  [
    'the answer is sealed under another key',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed(inner, { key: randomBytes(32) });
    },
  ],
  [
    'the answer does not echo the nonce',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner: { nonce: _nonce, ...rest } }) => sealed(rest);
    },
  ],
  [
    'the answer echoes another nonce',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed({ ...inner, nonce: encodeBase64(randomBytes(16)) });
    },
  ],
  [
    'the answer is for another session',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed({ ...inner, sessionId: 'other' });
    },
  ],
  [
    'the answer is stale and belongs to the request',
    'clock',
    (server) => {
      server.onValidate = ({ sealed, inner }) =>
        sealed({ ...inner, timestamp: Math.floor(server.clock / 1000) - 61 });
    },
  ],
  [
    'the answer is stale and belongs to another request',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner: { nonce: _nonce, ...rest } }) =>
        sealed({ ...rest, timestamp: Math.floor(server.clock / 1000) - 3600 });
    },
  ],
  [
    'the sealed text is not canonical',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) =>
        sealed(inner, { text: JSON.stringify(inner, null, 1), signedText: canonicalJson(inner) });
    },
  ],
  [
    'the sealed text is not canonical but correctly signed',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed(inner, { text: JSON.stringify(inner, null, 1) });
    },
  ],
  [
    'the sealed text is deeply nested',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) =>
        sealed(inner, { text: `${'['.repeat(20_000)}${']'.repeat(20_000)}` });
    },
  ],
  [
    'success comes with another code than OK',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) => sealed({ ...inner, code: 'EXPIRED' });
    },
  ],
  [
    'failure comes with the code OK',
    'untrusted-answer',
    (server) => {
      server.onValidate = ({ sealed, inner }) =>
        sealed({ ...inner, success: false, status: null, expiresAt: null });
    },
  ],
  [
    'a refusal has the code CLOCK_SKEW',
    'clock',
    (server) => {
      server.onValidate = () => refusal('CLOCK_SKEW');
    },
  ],
  [
    'a refusal has the code REPLAY',
    'server-rejected',
    (server) => {
      server.onValidate = () => refusal('REPLAY');
    },
  ],
];

describe('no response is mistaken for a verdict if', () => {
  test.for(cases)('%s (%s)', async ([, reason, misbehave], { server }) => {
    misbehave(server);
    const outcome = await createClient(server.options).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason });
    expect(outcome).not.toHaveProperty('valid');
  });

  test('an older answer of the same session is played back', async ({ server }) => {
    let recorded: Reply | undefined;
    server.onValidate = ({ good }) => {
      recorded ??= good();
      return recorded;
    };
    const client = createClient(server.options);
    expect(await client.validate('K')).toMatchObject({ valid: true });
    expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('a whole recorded exchange is played back while the clock is held', async ({ server }) => {
    const { onInit, onValidate } = server;
    const recorded: Reply[] = [];
    const record =
      <Context>(handler: (context: Context) => unknown) =>
      async (context: Context) => {
        const reply = await handler(context);
        if (typeof reply !== 'object') throw new Error('not a reply');
        recorded.push(Object(reply));
        return recorded.at(-1) ?? json(500, {});
      };
    server.onInit = record(onInit);
    server.onValidate = record(onValidate);
    expect(await createClient(server.options).validate('K')).toMatchObject({ valid: true });
    const [init, validate] = recorded;
    server.onInit = () => init ?? json(500, {});
    server.onValidate = () => validate ?? json(500, {});
    expect(await createClient(server.options).validate('K')).toMatchObject({
      kind: 'failure',
      reason: 'untrusted-answer',
    });
  });

  test('any bit of any answer is flipped', async ({ server }) => {
    const { onInit, onValidate } = server;
    let position = 0;
    const flipped = (reply: unknown): Reply => {
      const { status, body } = Object(reply);
      const bytes = new TextEncoder().encode(body);
      return { status, body: flipBit(bytes, position % (bytes.length * 8)) };
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), async (where, inHandshake) => {
        position = where;
        server.onInit = inHandshake ? (context) => flipped(context.good()) : onInit;
        server.onValidate = inHandshake ? onValidate : (context) => flipped(context.good());
        const outcome = await createClient(server.options).validate('K');
        expect(outcome.kind).toBe('failure');
      }),
      { numRuns: 60 },
    );
  });
});

describe('a call with arguments of wrong types', () => {
  // A JavaScript program can pass these, and the promise must not reject either.
  type Loose = Record<
    'validate' | 'register' | 'login' | 'upgrade',
    (...given: unknown[]) => Promise<unknown>
  >;
  const loose = (server: StandIn): Loose => Object(createClient(server.options));

  test('with null as options is a call without options', async ({ server }) => {
    expect(await loose(server).validate('K', null)).toMatchObject({ kind: 'verdict', valid: true });
    for (const verb of ['register', 'login', 'upgrade'] as const) {
      expect(await loose(server)[verb](null)).toHaveProperty('kind');
      expect(await loose(server)[verb]()).toHaveProperty('kind');
    }
  });

  test('with null as signal is a call without a signal', async ({ server }) => {
    expect(await loose(server).validate('K', { signal: null })).toMatchObject({ valid: true });
  });

  test.for([{}, { aborted: false }, 'signal', 1, () => {}])(
    'with %j as signal is a failure, and nothing is sent',
    async (signal, { server }) => {
      for (const outcome of [
        await loose(server).validate('K', { signal }),
        await loose(server).login({ username: 'ada', password: 'x', signal }),
      ]) {
        expect(outcome).toMatchObject({ kind: 'failure', reason: 'aborted' });
      }
      expect(server.seen).toEqual([]);
    },
  );
});

describe('a refused handshake', () => {
  test.for(['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'APP_NOT_FOUND'] as const)(
    'with %s is a failure with that code and the message of the service',
    async (code, { server }) => {
      server.onInit = () => refusal(code, 'Bitte aktualisieren');
      expect(await createClient(server.options).validate('K')).toEqual({
        kind: 'failure',
        reason: 'server-rejected',
        code,
        message: 'Bitte aktualisieren',
      });
      expect(server.count('sessionInit')).toBe(1);
      expect(server.count('validate')).toBe(0);
    },
  );
});

describe('a busy service', () => {
  test('reports how long to wait', async ({ server }) => {
    const body = { success: false, error: 'Slow down', code: 'RATE_LIMITED' };
    server.onValidate = () => json(429, body, { 'retry-after': '17' });
    expect(await createClient(server.options).validate('K')).toEqual({
      kind: 'failure',
      reason: 'rate-limited',
      code: 'RATE_LIMITED',
      message: 'Slow down',
      retryAfterSeconds: 17,
    });
  });

  test.for(['soon', '-1', '1.5', 'Fri, 31 Dec 1999 23:59:59 GMT'])(
    'that says "%s" says nothing of the wait',
    async (header, { server }) => {
      server.onValidate = () => json(503, {}, { 'retry-after': header });
      const outcome = await createClient(server.options).validate('K');
      expect(outcome).toMatchObject({ reason: 'unavailable' });
      expect(outcome).not.toHaveProperty('retryAfterSeconds');
    },
  );
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
    server.onValidate = () => redirectTo(`http://127.0.0.1:${port}/`);
    expect(await createClient(server.options).validate('K')).toMatchObject({ kind: 'failure' });
    expect(reached).toBe(0);
    await new Promise((resolve) => target.close(resolve));
  });

  test('refuses the response of a fetch that followed a redirect', async ({ server }) => {
    const following: typeof globalThis.fetch = (url, init) => fetch(url, { ...init, redirect: 'follow' });
    server.onInit = ({ good }) => good();
    const { onValidate } = server;
    let redirected = false;
    server.onValidate = (context) => {
      if (redirected) return onValidate(context);
      redirected = true;
      return redirectTo(clientPaths.validate);
    };
    const outcome = await createClient({ ...server.options, fetch: following }).validate('K');
    expect(redirected).toBe(true);
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('stops reading an endless body', async ({ server }) => {
    const closed = new Promise<void>((resolve) => {
      server.onValidate = () => (response) => {
        response.on('close', resolve);
        endless(response);
      };
    });
    expect(await createClient(server.options).validate('K')).toMatchObject({ reason: 'untrusted-answer' });
    await closed;
  });

  test('without a server is a network failure with its cause', async ({ server }) => {
    await server.close();
    const outcome = await createClient(server.options).validate('K');
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'network' });
    expect(outcome).toHaveProperty('cause');
    server.close = async () => {};
  });
});
