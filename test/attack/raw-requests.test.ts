import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { codeOf, exchange, request } from './raw.ts';

let server: TestServer;
let world: World;
let other: World;
let cookie: string;
let otherCookie: string;
let apiKey: string;
beforeAll(async () => {
  const PUBLIC_URL = 'https://licenses.example';
  server = await startTestServer({ env: { PUBLIC_URL, TRUST_PROXY: '0', RATE_LIMITS: 'auth=100000' } });
  world = await createWorld(server);
  other = await createWorld(server);
  cookie = await logIn(world);
  otherCookie = await logIn(other);
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'raw' });
  apiKey = /"apiKey":"([^"]+)"/.exec(JSON.stringify(created.body))?.[1] ?? '';
});
afterAll(() => server.close());

const logIn = async ({ client, login }: World): Promise<string> => {
  const answer = await client.post('/api/v1/auth/login', login);
  return cookieOf(answer) ?? expect.fail('no cookie');
};
const send = (bytes: string, answers?: number) => exchange(server.baseUrl, bytes, answers);
const me = (...fields: string[]) => request('GET /api/v1/auth/me HTTP/1.1', 'Host: x', ...fields);
const post = (path: string, body: string, ...fields: string[]) =>
  `${request(`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, ...fields)}${body}`;

/** The only response to the bytes of one request. */
async function only(bytes: string) {
  const { answers, closed } = await send(bytes);
  expect(answers).toHaveLength(1);
  return { ...(answers[0] ?? expect.fail()), closed };
}

describe.concurrent('a request with an ambiguous length', () => {
  const hidden = request('GET /api/v1/auth/me HTTP/1.1', 'Host: x');
  const begin = ['POST /api/v1/auth/logout HTTP/1.1', 'Host: x'];
  test.each([
    ['a length and chunks', request(...begin, 'Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['chunks and a length', request(...begin, 'Transfer-Encoding: chunked', 'Content-Length: 5')],
    ['two lengths', request(...begin, 'Content-Length: 0', `Content-Length: ${hidden.length}`)],
    ['two lengths that agree', request(...begin, 'Content-Length: 0', 'Content-Length: 0')],
    ['two lengths in one field', request(...begin, `Content-Length: 0, ${hidden.length}`)],
    ['a length with a sign', request(...begin, 'Content-Length: +0')],
    ['a negative length', request(...begin, 'Content-Length: -1')],
    ['a length in hexadecimal', request(...begin, 'Content-Length: 0x0')],
    ['a length beyond all numbers', request(...begin, `Content-Length: ${'9'.repeat(30)}`)],
    ['chunks that are not the last coding', request(...begin, 'Transfer-Encoding: chunked, identity')],
    ['chunks twice', request(...begin, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, gzip')],
    ['an unknown coding', request(...begin, 'Transfer-Encoding: xchunked')],
    ['a coding with a space before its colon', request(...begin, 'Transfer-Encoding : chunked')],
    ['a field that is folded', request(...begin, 'Content-Length: 0', ' X-Folded: 1')],
    ['a field without a colon', request(...begin, 'Content-Length 0')],
    ['a chunk of no size', `${request(...begin, 'Transfer-Encoding: chunked')}zz\r\n`],
    ['a chunk with a negative size', `${request(...begin, 'Transfer-Encoding: chunked')}-1\r\n`],
    ['a chunk that ends elsewhere', `${request(...begin, 'Transfer-Encoding: chunked')}1\r\nab\r\n`],
    ['lines that end with a carriage return', `${begin.join('\r')}\rContent-Length: 0\r\r`],
    ['a NUL in a field', request(...begin, 'Content-Length: 0', 'X-A: a\0b')],
  ])('%s: is refused, and nothing behind it is taken for a request', async (_what, bytes) => {
    const { answers, closed } = await send(bytes + hidden, 2);
    expect(closed).toBe(true);
    expect(answers.map(({ status }) => status)).toEqual([400]);
  });

  test('a request that is answered before its body turns out to be invalid has one response', async () => {
    const bytes = `${request('POST /nothing HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked')}1\r\nab\r\n${hidden}`;
    const { answers, closed } = await send(bytes, 2);
    expect(closed).toBe(true);
    expect(answers).toHaveLength(1);
  });

  test('two Host fields are refused or one is ignored, and neither is echoed', async () => {
    const { answers } = await send(
      request('GET /nothing HTTP/1.1', 'Host: one.example', 'Host: two.example'),
    );
    expect(answers).toHaveLength(1);
    expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify([...(answers[0]?.fields ?? [])]) + answers[0]?.body).not.toMatch(
      /(one|two)\.example/,
    );
  });

  test('a missing Host is refused', async () => {
    expect((await only(request('GET /health HTTP/1.1'))).status).toBe(400);
  });

  test('pipelined requests are answered in order and separately', async () => {
    const pair = me(`Cookie: service_session=${cookie}`) + me();
    const { answers } = await send(pair, 2);
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });
});

test('a complete request followed by garbage gets its own response, because it may have been executed', async () => {
  const body = '{"name":"a"}';
  const whole = post('/api/v1/apps/create', body, `Cookie: service_session=${cookie}`);
  expect((await only(whole)).status).toBe(201);
  const cut = request('POST /api/v1/auth/logout HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked');
  for (const rubbish of ['rubbish\r\n\r\n', `${cut}zz\r\n`]) {
    expect(await send(whole + rubbish)).toMatchObject({ answers: [], text: '', closed: true });
  }
});

describe.concurrent('a request that reaches no route', () => {
  test.each([
    ['a path with a backslash', request('GET /api\\v1 HTTP/1.1', 'Host: x'), 400, 'VALIDATION_FAILED'],
    ['a host with a slash', request('GET /health HTTP/1.1', 'Host: a/b'), 400, 'VALIDATION_FAILED'],
    ['an unknown expectation', me('Expect: foo'), 417, 'EXPECTATION_FAILED'],
    ['rubbish', 'rubbish\r\n\r\n', 400, 'VALIDATION_FAILED'],
  ])('%s gets an error of the usual shape and header fields', async (_what, bytes, status, code) => {
    const answer = await only(bytes);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ success: false, code, error: expect.any(String) });
    const { fields } = await only(request('GET /health HTTP/1.1', 'Host: x'));
    for (const [name, value] of fields) {
      if (['content-length', 'connection', 'keep-alive', 'date', 'vary'].includes(name)) continue;
      if (name === 'x-request-id') expect(answer.fields.get(name)).toMatch(/^[0-9a-f-]{36}$/);
      else expect(answer.fields.get(name), name).toBe(value);
    }
  });

  test('a body after an unknown expectation is not treated as a request', async () => {
    const hidden = request('GET /health HTTP/1.1', 'Host: x');
    const refused = post('/api/v1/auth/logout', hidden, 'Expect: foo');
    const { answers } = await send(refused + me(), 2);
    expect(answers.map(({ status }) => status)).toEqual([417, 401]);
  });
});

describe.concurrent('repeated credentials', () => {
  const bearer = () => `Authorization: Bearer ${apiKey}`;

  test('in Authorization are ambiguous and refused', async () => {
    expect((await only(me(bearer()))).status).toBe(200);
    expect((await only(me(bearer(), 'Authorization: Bearer rubbish'))).status).toBe(401);
    expect((await only(me('Authorization: Bearer rubbish', bearer()))).status).toBe(401);
    expect((await only(me(`Authorization: Bearer ${apiKey}, Bearer ${apiKey}`))).status).toBe(401);
  });

  test('of a repeated cookie the first one counts', async () => {
    const { developer } = world;
    const both = (one: string, two: string) => [
      me(`Cookie: service_session=${one}; service_session=${two}`),
      me(`Cookie: service_session=${one}`, `Cookie: service_session=${two}`),
    ];
    for (const bytes of both(cookie, otherCookie)) {
      const answer = await only(bytes);
      expect(answer.status).toBe(200);
      expect(answer.body).toContain(developer.id);
    }
    for (const bytes of both(otherCookie, cookie)) {
      expect((await only(bytes)).body).toContain(other.developer.id);
    }
    for (const bytes of both('rubbish', cookie)) expect((await only(bytes)).status).toBe(401);
  });

  test('an invalid cookie does not block a valid key, and an invalid key does not help it', async () => {
    expect((await only(me('Cookie: service_session=rubbish', bearer()))).status).toBe(200);
    const bad = 'Authorization: Bearer service_live_rubbish';
    expect((await only(me('Cookie: service_session=rubbish', bad))).status).toBe(401);
  });

  test.each([
    'SERVICE_SESSION',
    ' __Host-service_session',
    'service_session[]',
    'service_session%00',
    'x=y,service_session',
  ])('a cookie named %j is another one', async (name) => {
    expect((await only(me(`Cookie: ${name}=${cookie}`))).status).toBe(401);
  });
});

test('header fields beyond 16 KiB are 431, in one field, in many, and in the URL', async () => {
  const long = 'x'.repeat(17_000);
  const many = Array.from({ length: 400 }, (_, index) => `X-Field-${index}: ${'y'.repeat(40)}`);
  for (const bytes of [
    me(`X-Long: ${long}`),
    me(`Cookie: service_session=${long}`),
    me(...many),
    request(`GET /${long} HTTP/1.1`, 'Host: x'),
  ]) {
    const answer = await only(bytes);
    expect(answer).toMatchObject({ status: 431, closed: true });
    expect(codeOf(answer)).toBe('HEADERS_TOO_LARGE');
  }
});

describe.concurrent('methods', () => {
  test.each(['TRACE', 'PROPFIND', 'MOVE', 'PUT', 'DELETE', 'SEARCH', 'LINK', 'M-SEARCH', 'QUERY'])(
    '%s runs no route and gets the response of an unknown one',
    async (method) => {
      const bytes = request(
        `${method} /api/v1/auth/me HTTP/1.1`,
        'Host: x',
        `Cookie: service_session=${cookie}`,
        'X-Secret: hunter2',
      );
      const { answers } = await send(bytes);
      for (const answer of answers) {
        expect([400, 404]).toContain(answer.status);
        expect(answer.body).not.toContain('hunter2');
        expect(answer.body).not.toContain(world.developer.id);
      }
    },
  );

  test.each(['FOO', 'get', 'GE T', 'G\u0000T', 'X'.repeat(1000), 'CONNECT'])(
    '%s is not a valid method and is refused',
    async (method) => {
      const { answers, closed } = await send(`${method} /api/v1/auth/me HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(closed).toBe(true);
      expect(answers.filter(({ status }) => status < 400)).toEqual([]);
    },
  );

  test('cannot be overridden by a header field, a query or a member', async () => {
    const { id } = await world.createApplication();
    const fields = [
      'X-HTTP-Method-Override: DELETE',
      'X-HTTP-Method: DELETE',
      'X-Method-Override: DELETE',
      `Cookie: service_session=${cookie}`,
    ];
    await only(request(`GET /api/v1/apps/${id}?_method=DELETE HTTP/1.1`, 'Host: x', ...fields));
    await only(post(`/api/v1/apps/${id}?_method=DELETE`, '{"_method":"DELETE"}', ...fields));
    expect((await world.client.get(`/api/v1/apps/${id}`)).status).toBe(200);
  });

  test('an upgrade to another protocol is ignored', async () => {
    const answer = await only(
      me('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    );
    expect(answer.status).toBe(401);
  });
});

describe.concurrent('variants of a path', () => {
  const spellings = [
    ...['//api/v1/auth/me', '/api//v1/auth/me', '/api/v1//auth/me', '/api/v1/auth/me/', '/api/v1/auth/me//'],
    ...['/./api/v1/auth/me', '/api/v1/./auth/me', '/api/v1/auth/../auth/me', '/health/../api/v1/auth/me'],
    ...['/%2e/api/v1/auth/me', '/health/%2e%2e/api/v1/auth/me', '/health/..%2fapi/v1/auth/me'],
    ...[
      '/api/v1/auth%2fme',
      '/api/v1/auth/me%00',
      '/api/v1/auth/me%20',
      '/api/v1/auth/me%0d%0a',
      '/API/v1/auth/me',
    ],
    ...[
      '/api/v1/auth/ME',
      '/api/v1/auth/me;x=1',
      '/api/v1/auth/me.json',
      '/api/v1/%61uth/me',
      '/api/v1/auth/%6de',
    ],
    ...[
      '/docs/../api/v1/auth/me',
      '/graphql/../api/v1/auth/me',
      '/api/v1/auth/me?',
      '/api/v1/auth/me?/health',
    ],
    ...['/api/v1/auth/me#/health', '/api\\v1\\auth\\me', '/api/v1/auth/me%23', '/%', '/api/v1/auth/%'],
  ];

  test.each(spellings)('%s requires the same credential as the path', async (path) => {
    const answer = await only(request(`GET ${path} HTTP/1.1`, 'Host: x'));
    expect([400, 401, 404]).toContain(answer.status);
    expect(answer.body).not.toContain(world.developer.id);
  });

  test.each([
    '/api/v1/licenses/validate',
    '//api/v1/licenses/validate',
    '/api/v1/licenses/validate/',
    '/api/v1/licenses/./validate',
    '/api/v1/licenses/%76alidate',
    '/api/v1/licenses/validate?x',
  ])('POST %s takes no body beyond the limit, and draws on the bucket or is no route', async (path) => {
    const large = await only(post(path, ' '.repeat(70_000)));
    expect([404, 413]).toContain(large.status);
    const answer = await only(post(path, '{}'));
    if (answer.status === 404) return;
    expect(codeOf(answer)).toBe('CRYPTO_REQUIRED');
    expect(answer.fields.get('ratelimit-limit')).toBe('120');
  });

  test('an absolute URL is served by its path, and its host is ignored', async () => {
    const { headers } = await world.client.get('/api/v1/auth/me');
    expect(headers.get('x-request-id')).not.toBeNull();
    const answer = await only(
      request(
        'GET http://evil.example/api/v1/auth/me HTTP/1.1',
        'Host: x',
        `Cookie: service_session=${cookie}`,
      ),
    );
    expect([200, 400]).toContain(answer.status);
    expect(answer.body + JSON.stringify([...answer.fields])).not.toContain('evil.example');
    expect((await only(request('GET ftp://evil.example/health HTTP/1.1', 'Host: x'))).status).toBe(400);
  });
});

describe.concurrent('a host named by a client', () => {
  const liars = [
    'X-Forwarded-Host: evil.example',
    'Forwarded: host=evil.example;proto=http',
    'X-Host: evil.example',
    'X-Forwarded-Proto: http',
    'X-Original-URL: /api/v1/auth/me',
    'X-Rewrite-URL: /api/v1/auth/me',
  ];

  test('is in no response: sdkHint has PUBLIC_URL', async () => {
    const bytes = `${request(
      'POST /api/v1/apps/create HTTP/1.1',
      'Host: evil.example',
      'Content-Type: application/json',
      'Content-Length: 12',
      `Cookie: service_session=${cookie}`,
      ...liars,
    )}{"name":"a"}`;
    const answer = await only(bytes);
    expect(answer.status).toBe(201);
    expect(answer.body).toContain('https://licenses.example');
    expect(answer.body + JSON.stringify([...answer.fields])).not.toContain('evil.example');
  });

  test('selects no other route', async () => {
    const answer = await only(request('GET /health HTTP/1.1', 'Host: x', ...liars));
    expect(JSON.parse(answer.body)).toEqual({ ok: true, service: 'latchkey' });
  });

  test('is in no page and no document', async () => {
    for (const path of ['/docs', '/graphql', '/api/v1/openapi.json', '/nothing']) {
      const fields = ['Host: evil.example', 'Accept: text/html', ...liars];
      const answer = await only(request(`GET ${path} HTTP/1.1`, ...fields));
      expect(answer.body + JSON.stringify([...answer.fields]), path).not.toContain('evil.example');
    }
  });

  test('does not disable HSTS of a service with an https PUBLIC_URL', async () => {
    const paths = ['/health', '/docs', '/graphql', '/nothing', '/api/v1/auth/me', '/api/v1/session/init'];
    for (const path of paths) {
      const answer = await only(request(`GET ${path} HTTP/1.1`, 'Host: x', ...liars));
      expect(answer.fields.get('strict-transport-security'), path).toBe('max-age=31536000');
    }
    const refused = await only('rubbish\r\n\r\n');
    expect(refused.fields.get('strict-transport-security')).toBe('max-age=31536000');
    const sealed = await only(post('/api/v1/licenses/validate', '{}'));
    expect(sealed.fields.get('strict-transport-security')).toBe('max-age=31536000');
  });

  test('does not make the cookie less secure', async () => {
    const body = JSON.stringify(world.login);
    const answer = await only(post('/api/v1/auth/login', body, 'X-Forwarded-Proto: http'));
    expect(answer.fields.get('set-cookie')).toMatch(
      /^service_session=[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });
});

describe.concurrent('line breaks in echoed text', () => {
  const split = ['%0d%0aSet-Cookie:%20a=b', '%E5%98%8A%E5%98%8DSet-Cookie:%20a=b', '%0aX-Evil:1'];

  test.each(split)('%s cannot create a header field', async (text) => {
    for (const path of [`/${text}`, `/api/v1/apps/${text}`, `/graphql?query=${text}`, `/docs/${text}`]) {
      const { answers } = await send(
        request(`GET ${path} HTTP/1.1`, 'Host: x', `Cookie: service_session=${cookie}`),
      );
      for (const { fields } of answers) {
        expect(fields.has('set-cookie'), path).toBe(false);
        expect(fields.has('x-evil'), path).toBe(false);
      }
    }
  });

  test('a refused origin is echoed in JSON but in no header field', async () => {
    const origin = 'https://evil.example/"><script>alert(1)</script>';
    const answer = await only(post('/api/v1/auth/logout', '{}', `Origin: ${origin}`));
    expect(answer.status).toBe(403);
    expect(answer.fields.get('content-type')).toMatch(/^application\/json/);
    expect(JSON.stringify([...answer.fields])).not.toContain('evil');
  });
});

test('with TRUST_PROXY 0 no header field changes the rate limit', async () => {
  const strict = await startTestServer({ env: { TRUST_PROXY: '0', RATE_LIMITS: 'auth=3' } });
  try {
    const statuses = Array.from({ length: 6 }, async (_, index) => {
      const ip = `198.51.100.${index}`;
      const fields = ['X-Forwarded-For', 'X-Real-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP'];
      const bytes = post('/api/v1/auth/login', '{}', ...fields.map((name) => `${name}: ${ip}`));
      const { answers } = await exchange(strict.baseUrl, bytes);
      return answers[0]?.status;
    });
    expect((await Promise.all(statuses)).sort()).toEqual([400, 400, 400, 429, 429, 429]);
  } finally {
    await strict.close();
  }
});

test('none of these requests caused an internal error', () => {
  expect(server.logLines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
});
