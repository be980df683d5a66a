import { inspect } from 'node:util';
import { describe, expect } from 'vitest';
import {
  CreateLicensesDocument,
  createManagementClient,
  isManagementError,
  ManagementError,
  MeDocument,
} from '../../src/management/index.ts';
import {
  apiKey,
  data,
  failed,
  hangUp,
  json,
  type Reply,
  rejectionOf,
  reply,
  silence,
  test,
} from './stand-in.ts';

const input = { applicationId: 'a', amount: 1, durationSeconds: 0 };
const html = { 'content-type': 'text/html' };
const page = '<!doctype html><p>secret-of-the-proxy';

const halfAnAnswer: Reply = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"data":{"me"', () => response.destroy());
};

const misbehaviours: [what: string, code: string, status: number | undefined, answer: Reply][] = [
  ['HTML', 'BAD_ANSWER', 200, reply(200, page, html)],
  ['HTML with 404', 'BAD_ANSWER', 404, reply(404, page, html)],
  ['HTML with 413', 'PAYLOAD_TOO_LARGE', 413, reply(413, page, html)],
  ['HTML with 429', 'RATE_LIMITED', 429, reply(429, page, html)],
  ['HTML with 502', 'UNAVAILABLE', 502, reply(502, page, html)],
  ['JSON under a wrong content type, cut short', 'BAD_ANSWER', 200, reply(200, '{"data":{"me":', html)],
  ['an empty body', 'BAD_ANSWER', 200, reply(200, '')],
  ['an empty body with 204', 'BAD_ANSWER', 204, reply(204, '')],
  ['JSON null', 'BAD_ANSWER', 200, json(200, null)],
  ['JSON of something else', 'BAD_ANSWER', 200, json(200, { hello: 'world' })],
  ['data null without an error', 'BAD_ANSWER', 200, json(200, { data: null })],
  ['a root field null without an error', 'BAD_ANSWER', 200, json(200, { data: { me: null } })],
  ['data that is a list', 'BAD_ANSWER', 200, json(200, { data: [] })],
  ['an error without a code', 'BAD_ANSWER', 400, json(400, { errors: [{ message: 'No' }] })],
  ['a closed connection', 'NETWORK', undefined, hangUp],
  ['half an answer', 'NETWORK', undefined, halfAnAnswer],
  ['a redirect', 'BAD_ANSWER', 307, reply(307, '', { location: 'https://other.example/x?token=t0ken' })],
];

describe.each(misbehaviours)('an answer that is %s', (_what, code, status, answer) => {
  test(`is a ManagementError ${code}`, async ({ server }) => {
    server.answer(answer);
    const error = await rejectionOf(server.client({ retries: 0 }).request(MeDocument));
    expect(error).toBeInstanceOf(ManagementError);
    expect(error).toMatchObject({ name: 'ManagementError', code, status });
    expect(error).toHaveProperty('message', expect.stringMatching(/.{10,}|^No$/));
    expect(inspect(error, { depth: 9 })).not.toMatch(/secret-of-the-proxy|t0ken/);
  });
});

test('a redirect is not followed, and the error says what to change', async ({ server }) => {
  server.answer(reply(308, '', { location: `${server.baseUrl}/elsewhere` }), data({ me: { id: '1' } }));
  const error = await rejectionOf(server.client().request(MeDocument));
  expect(error).toMatchObject({ code: 'BAD_ANSWER', message: expect.stringContaining('Set baseUrl') });
  expect(server.seen.map(({ path }) => path)).toEqual(['/graphql']);
});

test("a redirect that the caller's fetch followed is refused too", async ({ server }) => {
  server.answer(reply(307, '', { location: '/elsewhere' }), data({ me: { id: '1' } }));
  const client = server.client({ fetch: (url, init) => fetch(url, { ...init, redirect: 'follow' }) });
  await expect(client.request(MeDocument)).rejects.toMatchObject({ code: 'BAD_ANSWER' });
});

test('a GraphQL error has its code, path, issues, retry seconds and request id', async ({ server }) => {
  const issues = [{ path: ['amount'], message: 'Too big' }];
  const errors = [
    { message: 'Not valid', path: ['createLicenses'], extensions: { code: 'VALIDATION_FAILED', issues } },
    { message: 'Broken', path: ['other', 0], extensions: { code: 'INTERNAL', requestId: 'r-1' } },
  ];
  server.answer(
    json(
      200,
      { data: { createLicenses: null, other: 1 }, errors },
      { 'x-request-id': 'r-2', 'retry-after': '7' },
    ),
  );
  const error = await rejectionOf(server.client().request(CreateLicensesDocument, { input }));
  expect(error).toMatchObject({
    code: 'VALIDATION_FAILED',
    message: 'Not valid',
    status: 200,
    path: ['createLicenses'],
    issues,
    requestId: 'r-2',
    retryAfterSeconds: 7,
    errors: [
      { code: 'VALIDATION_FAILED', message: 'Not valid', issues },
      { code: 'INTERNAL', message: 'Broken', path: ['other', 0], requestId: 'r-1' },
    ],
    data: { createLicenses: null, other: 1 },
  });
});

test('a REST error has its code and message', async ({ server }) => {
  server.answer(json(413, { success: false, error: 'Too large.', code: 'PAYLOAD_TOO_LARGE' }));
  await expect(server.client().request(MeDocument)).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
    message: 'Too large.',
    status: 413,
  });
});

test('an unknown code is passed on', async ({ server }) => {
  server.answer(failed('CODE_OF_NEXT_YEAR'));
  const error = await rejectionOf(server.client().request(MeDocument));
  expect(isManagementError(error)).toBe(true);
  expect(error).toMatchObject({ code: 'CODE_OF_NEXT_YEAR' });
  expect(isManagementError(error, 'NETWORK', 'UNAUTHENTICATED')).toBe(false);
  expect(isManagementError(new Error('no'))).toBe(false);
});

test('partial data is in the error, but not in its printed form', async ({ server }) => {
  const errors = [{ message: 'No', path: ['b'], extensions: { code: 'APP_NOT_FOUND' } }];
  server.answer(json(200, { data: { a: { keys: [{ licenseKey: 'AAAAA-BBBBB' }] }, b: null }, errors }));
  const error = await rejectionOf(server.client().request(CreateLicensesDocument, { input }));
  expect(error).toMatchObject({ data: { a: { keys: [{ licenseKey: 'AAAAA-BBBBB' }] } } });
  expect(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)).not.toContain('AAAAA');
});

test('no response within the timeout is TIMEOUT', async ({ server }) => {
  server.answer(silence);
  await expect(server.client().request(MeDocument, {}, { timeoutMilliseconds: 50 })).rejects.toMatchObject({
    code: 'TIMEOUT',
    message: 'No complete response within 50 ms',
  });
});

test('a body that does not end is TIMEOUT, even with a fetch that ignores its signal', async ({ server }) => {
  server.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"data":');
  });
  const deaf: typeof fetch = (url, init) => fetch(url, { ...init, signal: null });
  for (const options of [{}, { fetch: deaf }]) {
    const call = server.client({ ...options, timeoutMilliseconds: 50 }).request(MeDocument);
    await expect(call).rejects.toMatchObject({ code: 'TIMEOUT' });
  }
});

test("the caller's signal is ABORTED, before and during the request", async ({ server }) => {
  const signal = AbortSignal.abort('no longer');
  server.answer(silence);
  await expect(server.client().request(MeDocument, {}, { signal })).rejects.toMatchObject({
    code: 'ABORTED',
    cause: 'no longer',
  });
  expect(server.seen).toEqual([]);
  const later = new AbortController();
  const call = rejectionOf(server.client().request(MeDocument, {}, { signal: later.signal }));
  await expect.poll(() => server.seen.length).toBe(1);
  later.abort();
  expect(await call).toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => server.open()).toBe(0);
});

describe('the key', () => {
  const nobody = 'http://127.0.0.1:1';

  test('is sent as a bearer token, only to the service', async ({ server }) => {
    server.answer(data({ me: { id: '1' } }));
    await server.client().request(MeDocument);
    expect(server.seen[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    const other = server.baseUrl.replace('127.0.0.1', 'localhost');
    server.answer(reply(307, '', { location: `${other}/graphql` }));
    await rejectionOf(server.client().request(MeDocument));
    expect(server.seen).toHaveLength(2);
  });

  test('is not in the printed form of the client or of an error', async () => {
    const client = createManagementClient({
      baseUrl: nobody,
      apiKey,
      headers: { 'x-secret': apiKey },
      retries: 0,
    });
    const errors = [
      await rejectionOf(client.request(MeDocument)),
      await rejectionOf(client.request(CreateLicensesDocument, { input })),
    ];
    for (const printed of [client, ...errors]) {
      const texts = [
        inspect(printed, { depth: 9, showHidden: true }),
        JSON.stringify(printed),
        String(printed),
      ];
      expect(texts.join('\n')).not.toContain(apiKey);
    }
    expect(errors.every((error) => error instanceof Error && !error.stack?.includes(apiKey))).toBe(true);
  });

  test.for([
    ['a line break', { apiKey: `${apiKey}\n` }],
    ['a letter that no header field has', { apiKey: `${apiKey}…` }],
    ['nothing', { apiKey: '' }],
    ['a header field with a line break', { headers: { 'x-secret': `${apiKey}\nx: y` } }],
  ] as const)('with %s is refused at once, and not repeated', ([, options]) => {
    const create = () => createManagementClient({ baseUrl: nobody, ...options });
    expect(create).toThrow(TypeError);
    expect(create).not.toThrow(apiKey);
  });

  test('may be omitted, so that the browser sends its cookie', async ({ server }) => {
    const sent: (RequestInit | undefined)[] = [];
    const spying: typeof fetch = (url, init) => {
      sent.push(init);
      return fetch(url, init);
    };
    server.answer(data({ me: { id: '1' } }));
    await server.client({ fetch: spying }).request(MeDocument);
    await server.client({ fetch: spying, apiKey: undefined }).request(MeDocument);
    expect(sent.map((init) => init?.credentials)).toEqual(['omit', 'include']);
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`, undefined]);
  });
});

test.for([
  ['baseUrl', { baseUrl: 'license.example.com' }],
  ['baseUrl', { baseUrl: 'ftp://license.example.com' }],
  ['baseUrl', { baseUrl: 'https://ada:secret@license.example.com' }],
  ['timeoutMilliseconds', { timeoutMilliseconds: 0 }],
  ['timeoutMilliseconds', { timeoutMilliseconds: 2 ** 31 }],
  ['retries', { retries: -1 }],
  ['retries', { retries: 1.5 }],
] as const)('a wrong %s is a TypeError that names it: %j', ([name, options]) => {
  expect(() => createManagementClient({ baseUrl: 'http://127.0.0.1:1', ...options })).toThrow(
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }),
  );
});
