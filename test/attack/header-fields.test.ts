import { describe, expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useWorld } from '../setup/use-world.ts';
import { exchange, request } from './raw.ts';
import { expectClosedData, expectClosedToOtherSites, policyOf } from './security-fields.ts';

const { server, world } = useWorld({ env: { CORS_ORIGINS: 'https://dashboard.example' } });

const json = { 'Content-Type': 'application/json' };
/** Requests of every kind, each with the status that confirms the kind. */
const requests: readonly [string, number, string, string, RequestInit][] = [
  ['a success', 200, 'GET', '/health', {}],
  ['the document of all routes', 200, 'GET', '/api/v1/openapi.json', {}],
  ['a route that is not there', 404, 'GET', '/nothing', {}],
  ['a credential that is missing', 401, 'GET', '/api/v1/auth/me', {}],
  ['a method that is not there', 404, 'PUT', '/api/v1/auth/me', {}],
  ['HEAD', 200, 'HEAD', '/health', {}],
  ['input that is not valid', 400, 'POST', '/api/v1/auth/login', { headers: json, body: '{' }],
  [
    'a body that is too large',
    413,
    'POST',
    '/api/v1/auth/login',
    { headers: { ...json, Connection: 'close' }, body: ' '.repeat(200_000) },
  ],
  [
    'a foreign page',
    403,
    'POST',
    '/api/v1/auth/logout',
    { headers: { Origin: 'https://evil.example', ...json }, body: '{}' },
  ],
  ['a client that is not sealed', 400, 'POST', '/api/v1/licenses/validate', { headers: json, body: '{}' }],
  ['a client’s malformed handshake', 400, 'POST', '/api/v1/session/init', { headers: json, body: '[]' }],
  [
    'the preflight of a client’s page',
    204,
    'OPTIONS',
    '/api/v1/session/init',
    { headers: { Origin: 'https://any.example', 'Access-Control-Request-Method': 'POST' } },
  ],
  [
    'the preflight of a dashboard’s page',
    204,
    'OPTIONS',
    '/api/v1/apps/create',
    { headers: { Origin: 'https://dashboard.example', 'Access-Control-Request-Method': 'POST' } },
  ],
  ['GraphQL', 200, 'POST', '/graphql', { headers: json, body: '{"query":"{ __typename }"}' }],
  ['GraphQL that does not parse', 200, 'POST', '/graphql', { headers: json, body: '{"query":"{"}' }],
  ['GraphQL that is none', 400, 'POST', '/graphql', { headers: json, body: '{}' }],
  [
    'GraphQL for a client that accepts no JSON',
    406,
    'POST',
    '/graphql',
    { headers: { ...json, Accept: 'image/png' }, body: '{}' },
  ],
  ['GraphQL’s OPTIONS', 405, 'OPTIONS', '/graphql', {}],
];

test.each(requests)(
  '%s is protected from other sites and not cacheable',
  async (what, status, method, path, init) => {
    const answer = await fetch(server.baseUrl + path, { method, ...init });
    await answer.arrayBuffer();
    expect(answer.status).toBe(status);
    expectClosedData(answer.headers, what);
  },
);

test('a sealed response is protected, and so is a refusal by a rate limit', async () => {
  const application = await world.createApplication();
  const session = await openSession(server, application);
  const answer = await session.client.post(validatePath, session.seal(session.inner({ licenseKey: 'none' })));
  expect(answer.status).toBe(200);
  expectClosedData(answer.headers, 'a sealed verdict');
  const guesser = new ApiClient(server.baseUrl, { bearer: 'service_live_none' });
  let refused = await guesser.get('/api/v1/auth/me');
  for (let tries = 0; tries < 40 && refused.status !== 429; tries++) {
    refused = await guesser.get('/api/v1/auth/me');
  }
  expect(refused.status).toBe(429);
  expectClosedData(refused.headers, 'a refusal for too many requests');
});

test('an event stream is protected', async () => {
  const { id } = await world.createApplication();
  const stop = new AbortController();
  const query = 'subscription ($id: ID!) { securityLog(applicationId: $id) { id } }';
  const answer = await world.client
    .with({ headers: { Accept: 'text/event-stream' } })
    .open('POST', '/graphql', { query, variables: { id } }, stop.signal);
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expectClosedData(answer.headers, 'an event stream');
  stop.abort();
});

test.each([
  ['what is no HTTP', 'rubbish\r\n\r\n', 400],
  ['header fields without end', request('GET /health HTTP/1.1', 'Host: x', `A: ${'x'.repeat(20_000)}`), 431],
  ['a host that is none', request('GET /health HTTP/1.1', 'Host: a b'), 400],
])('so is what Node.js refuses before it is a request: %s', async (what, bytes, status) => {
  const { answers } = await exchange(server.baseUrl, bytes);
  expect(answers.map((answer) => answer.status)).toEqual([status]);
  for (const { fields, body } of answers) {
    expectClosedData(fields, what);
    expect(fields.get('content-type')).toBe('application/json');
    expect(JSON.parse(body)).toMatchObject({ success: false, code: expect.any(String) });
  }
});

describe('a page', () => {
  /** Pages, with their allowed sources. */
  const allowed = ["'none'", "'self'", 'data:'];
  const pages = ['/docs', '/graphql'];
  const read = async (path: string) => {
    const answer = await fetch(server.baseUrl + path, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect(answer.status, path).toBe(200);
    return { headers: answer.headers, text: await answer.text() };
  };

  test.each(pages)('%s loads only from this service and runs no inline script', async (path) => {
    const { headers } = await read(path);
    expectClosedToOtherSites(headers, path);
    expect(headers.get('cache-control')).toBe('no-store');
    const policy = policyOf(headers);
    expect(policy.get('script-src')).toEqual(["'self'"]);
    for (const name of ['base-uri', 'form-action']) expect(policy.get(name), name).toEqual(["'none'"]);
    for (const [name, sources] of policy) {
      const styles = name === 'style-src' ? [...allowed, "'unsafe-inline'"] : allowed;
      for (const source of sources) expect(styles, `${name} ${source}`).toContain(source);
    }
  });

  test.each(pages)('%s has no inline script and no URL on another host', async (path) => {
    const { text } = await read(path);
    for (const [tag, attributes = '', content = ''] of text.matchAll(/<script\b([^>]*)>(.*?)<\/script>/gs)) {
      expect(attributes, tag).toContain('src="');
      expect(content, tag).toBe('');
    }
    expect(text).not.toMatch(/\son\w+\s*=|javascript:|<(?:iframe|object|embed|base|form)\b/i);
    const addresses = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(addresses.length).toBeGreaterThan(2);
    for (const address of addresses) {
      const { origin, pathname } = new URL(address, server.baseUrl + path);
      expect(origin, address).toBe(server.baseUrl);
      const part = await fetch(origin + pathname, { method: 'HEAD' });
      expect(part.status, address).toBe(200);
      expectClosedToOtherSites(part.headers, address);
    }
  });
});

test('a service with an http PUBLIC_URL sends no HSTS header', async () => {
  for (const path of ['/health', '/docs', '/nothing', '/api/v1/auth/me']) {
    const answer = await fetch(server.baseUrl + path);
    await answer.arrayBuffer();
    expect(answer.headers.get('strict-transport-security'), path).toBeNull();
  }
});
