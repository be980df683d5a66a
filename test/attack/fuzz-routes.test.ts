/** @module-tag slow */
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { clientPaths } from '../../src/protocol/constants.ts';
import { plaintextErrorStatus, verdictCodes } from '../../src/protocol/messages.ts';
import { serviceErrorCodes } from '../../src/services/errors.ts';
import { apiKeyAnswer, expectSuccess, missingId, noLimits } from '../api/support.ts';
import { cookieOf, failureBody } from '../setup/api-client.ts';
import { openSession, type SealedSession } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { type ContractRoute, contractRoutes, valuesOf } from './contract.ts';
import { damaged, fuzz, fuzzTimeout, hostileText, hostileValue } from './fuzz.ts';
import { expectClosedData } from './security-fields.ts';

let server: TestServer;
let world: World;
let credentials: Readonly<Record<'anonymous' | 'bearer' | 'cookie', Readonly<Record<string, string>>>>;
let known: Readonly<Record<string, readonly unknown[]>>;
let applicationId: string;
let licenseId: string;
let session: SealedSession;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
  const cookie = cookieOf(await world.client.post('/api/v1/auth/login', world.login));
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'fuzz' });
  const { apiKey } = expectSuccess(created, 201, apiKeyAnswer).key;
  credentials = {
    anonymous: {},
    bearer: { Authorization: `Bearer ${apiKey}` },
    cookie: { Cookie: `service_session=${cookie}` },
  };
  const application = await world.createApplication();
  applicationId = application.id;
  const { id, licenseKey } = await application.mintOne();
  licenseId = id;
  session = await openSession(server, application);
  known = {
    applicationId: [application.id, missingId],
    appId: [application.id, missingId],
    clientVersion: [application.version, 'another'],
    clientNonceB64: [Buffer.alloc(32, 1).toString('base64')],
    sessionId: [session.sessionId, 'none'],
    licenseKey: [licenseKey, 'none'],
    // A wrong password, so that the account still exists at the end.
    password: ['not the password', 'p'.repeat(1024)],
    amount: [1, 3],
  };
});
afterAll(() => server.close());

/** All error codes. */
const codes: ReadonlySet<string> = new Set([
  ...serviceErrorCodes,
  ...verdictCodes,
  ...Object.keys(plaintextErrorStatus),
  'PAYLOAD_TOO_LARGE',
  'ROUTE_NOT_FOUND',
]);

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

const largestAnswer = 2_000_000;

/** Sends a request and checks what applies to the response of every route. */
async function hold({ method, path, headers, body }: Ask): Promise<void> {
  const before = server.logLines.length;
  const answer = await fetch(server.baseUrl + path, {
    method,
    headers,
    ...(body !== null && method !== 'GET' && { body: new Uint8Array(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await answer.text();
  const faults = server.logLines.slice(before).filter((line) => line.includes('unexpectedly'));
  expect(faults, `${method} ${path}`).toEqual([]);
  expect(answer.status).toBeLessThan(500);
  expect(text.length).toBeLessThan(largestAnswer);
  expectClosedData(answer.headers, `${method} ${path}`);
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w.:/+=@-]{1,200}$/);
  // The response to a preflight has only header fields.
  if (text !== '')
    expect(answer.headers.get('content-type')).toMatch(/^application\/(graphql-response\+)?json/);
  expect(text).not.toMatch(/node_modules|\bat \w+ \(|\.ts:\d|SELECT |prisma\./);
  if (answer.status >= 400 && !path.startsWith('/graphql')) {
    const { code, error } = z.strictObject(failureBody.shape).parse(JSON.parse(text));
    expect(codes).toContain(code);
    expect(error).not.toBe('');
  }
}

/** An id in a path: an existing one, a missing one, or any text. Deletions and bans never get existing ids. */
const idOf = ({ method, operationId }: ContractRoute) => {
  const good =
    method === 'DELETE' || /ban|revoke/i.test(operationId)
      ? [missingId]
      : [applicationId, licenseId, missingId];
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: hostileText.filter((text) => text.isWellFormed()).map(encodeURIComponent) },
  );
};

const pathOf = (route: ContractRoute) =>
  fc.tuple(idOf(route), idOf(route)).map(([one, two]) => {
    const ids = [one, two];
    return `/api/v1${route.path.replaceAll(/\{\w+\}/g, () => ids.shift() ?? '')}`;
  });

const queryOf = (route: ContractRoute) => {
  const names = fc.constantFrom(...route.query, 'limit', 'unknown', '__proto__');
  const value = fc.oneof(
    hostileText.map((text) => text.toWellFormed()),
    fc.integer().map(String),
  );
  return fc
    .array(fc.tuple(names, value), { maxLength: 3 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`));
};

const headersOf = fc.dictionary(
  fc.constantFrom(
    ...[
      'Content-Type',
      'Accept',
      'Origin',
      'X-Forwarded-For',
      'X-Request-Id',
      'Range',
      'If-None-Match',
      'Content-Encoding',
    ],
    ...[
      'Accept-Encoding',
      'Accept-Language',
      'X-HTTP-Method-Override',
      'Access-Control-Request-Method',
      'Authorization',
    ],
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/plain',
      '*/*',
      'gzip',
      'null',
      'https://evil.example',
      '1.2.3.4, 5.6.7.8',
    ),
    hostileText.map((text) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '').slice(0, 500)),
  ),
  { maxKeys: 2 },
);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A body of the route's shape, valid or with one error. */
function bodyOf(route: ContractRoute): fc.Arbitrary<Buffer | null> {
  const good = route.body === null ? fc.constant<unknown>({}) : valuesOf(route.body, known);
  const write = (value: unknown) => Buffer.from(JSON.stringify(value) ?? 'null');
  const wrong = fc.tuple(good, fc.nat(), hostileValue, hostileText).chain(([value, where, hostile, text]) => {
    const names = isObject(value) ? Object.keys(value) : [];
    const name = names[where % Math.max(1, names.length)] ?? 'x';
    const object = isObject(value) ? value : {};
    const others = Object.fromEntries(Object.entries(object).filter(([member]) => member !== name));
    return fc.oneof(
      fc.constant(write({ ...object, [name]: hostile })),
      fc.constant(write({ ...object, [name]: text })),
      fc.constant(write(others)),
      fc.constant(write({ ...object, [text]: hostile })),
      fc.constant(write([value])),
      fc.constant(write(hostile)),
      damaged(JSON.stringify(value) ?? 'null'),
    );
  });
  return fc.oneof(
    { weight: 2, arbitrary: good.map(write) },
    { weight: 6, arbitrary: wrong },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

const who = fc.constantFrom('anonymous', 'bearer', 'cookie' as const);

test.each(contractRoutes.map((route) => [route.operationId, route] as const))(
  '%s responds to anything with one of its documented shapes',
  { timeout: fuzzTimeout },
  async (_name, route) => {
    const asks = fc.tuple(pathOf(route), queryOf(route), headersOf, bodyOf(route), who);
    await fc.assert(
      fc.asyncProperty(asks, ([path, query, extra, body, actor]) =>
        hold({
          method: route.method,
          path: path + query,
          headers: { 'Content-Type': 'application/json', ...extra, ...credentials[actor] },
          body,
        }),
      ),
      fuzz(10),
    );
  },
);

test('unknown methods and paths are refused, whatever they look like', { timeout: fuzzTimeout }, async () => {
  const part = fc.oneof(
    fc.constantFrom(
      'api',
      'v1',
      'apps',
      'licenses',
      'graphql',
      'docs',
      '..',
      '.',
      '',
      '%2e%2e',
      '%00',
      '%ff',
      'create',
    ),
    hostileText.filter((text) => text.isWellFormed()).map(encodeURIComponent),
  );
  const method = fc.constantFrom('PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'X');
  const path = fc.array(part, { maxLength: 5 }).map((parts) => `/api/v1/nothing/${parts.join('/')}`);
  await fc.assert(
    fc.asyncProperty(method, path, headersOf, who, async (name, where, headers, actor) => {
      // A client removes dot segments from a path; raw-requests.test.ts tests them.
      fc.pre(new URL(where, server.baseUrl).pathname.startsWith('/api/v1/nothing'));
      await hold({ method: name, path: where, headers: { ...headers, ...credentials[actor] }, body: null });
    }),
    fuzz(60),
  );
});

test('any inner body gets a sealed result', { timeout: fuzzTimeout }, async () => {
  const members = [
    'licenseKey',
    'hwid',
    'username',
    'password',
    'email',
    'nonce',
    'timestamp',
    'v',
    'echoNonce',
    'deviceId',
    'releaseDeviceId',
    'after',
    'deviceName',
  ];
  const inner = fc.dictionary(fc.constantFrom(...members, 'unknown'), hostileValue, { maxKeys: 4 });
  const paths = Object.values(clientPaths).filter((path) => path !== clientPaths.sessionInit);
  await fc.assert(
    fc.asyncProperty(inner, fc.constantFrom(...paths), fc.boolean(), async (more, path, isWhole) => {
      const body = JSON.stringify(isWhole ? session.inner(more) : more);
      const answer = await session.client.post(path, session.seal(body));
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 200) expect(verdictCodes).toContain(session.open(answer).code);
      else expect(codes).toContain(failureBody.parse(answer.body).code);
    }),
    fuzz(100),
  );
});

const operations = new URL('../graphql/operations/', import.meta.url);
const documents = readdirSync(operations).map((file) => readFileSync(new URL(file, operations), 'utf8'));
const names = documents.flatMap((text) =>
  [...text.matchAll(/^(?:query|mutation) (\w+)/gm)].map((match) => match[1] ?? ''),
);

test('GraphQL responds to damaged documents and variables with codes, without internal errors', {
  timeout: fuzzTimeout,
}, async () => {
  const token = /[A-Za-z_]\w*|\$|[{}()[\]:!=@|]|\.\.\.|"[^"]*"|\d+/g;
  const document = fc.constantFrom(...documents).chain((text) => {
    const tokens = text.match(token) ?? [];
    const hostile = fc.constantFrom(
      ...[
        '{',
        '}',
        '(',
        ')',
        '...',
        '@skip(if: true)',
        '@include(if: $x)',
        '$x',
        '__schema',
        '__typename',
        'fragment',
      ],
      ...[
        'on',
        'query',
        'mutation',
        'subscription',
        '"\\u0000"',
        '"\\ud800"',
        '1e999',
        '-',
        '"""',
        '#',
        '\u0000',
        '\ufeff',
        '@',
        '&',
      ],
    );
    const changes = fc.array(fc.tuple(fc.nat(), hostile, fc.constantFrom('cut', 'add', 'twice')), {
      minLength: 1,
      maxLength: 3,
    });
    return changes.map((all) => {
      const changed = [...tokens];
      for (const [where, word, what] of all) {
        const at = where % Math.max(1, changed.length);
        if (what === 'cut') changed.splice(at, 1);
        else if (what === 'add') changed.splice(at, 0, word);
        else changed.splice(at, 0, changed[at] ?? '');
      }
      return changed.join(' ');
    });
  });
  const input = fc.dictionary(
    fc.constantFrom('input', 'id', 'applicationId', 'first', 'after', 'filter'),
    hostileValue,
    { maxKeys: 3 },
  );
  const request = fc.record(
    {
      query: fc.oneof(document, fc.constantFrom(...documents), hostileText),
      variables: fc.oneof(input, hostileValue),
      operationName: fc.oneof(fc.constantFrom(...names), hostileText),
      extensions: hostileValue,
    },
    { requiredKeys: ['query'] },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: request }, { weight: 1, arbitrary: hostileValue }),
      who,
      (body, actor) =>
        hold({
          method: 'POST',
          path: '/graphql',
          headers: {
            'Content-Type': 'application/json',
            ...(actor === 'anonymous' ? {} : credentials[actor]),
          },
          body: Buffer.from(JSON.stringify(body) ?? 'null'),
        }),
    ),
    fuzz(150),
  );
});

test('the service still works afterwards', async () => {
  expect((await fetch(`${server.baseUrl}/health`)).status).toBe(200);
  expect((await world.client.get('/api/v1/auth/me')).status).toBe(200);
  expect((await world.client.get(`/api/v1/apps/${applicationId}`)).status).toBe(200);
  expect(server.logLines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
});
