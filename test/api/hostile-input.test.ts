import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { expectFailure, expectIssue, noLimits, paddedTo, sendRaw } from './support.ts';

let server: TestServer;
let world: World;
let application: SeededApplication;
let licenseId: string;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
  application = await world.createApplication();
  licenseId = (await application.mintOne()).id;
});
afterAll(() => server.close());

/** The kind of a field, which determines what it must refuse. */
type Field =
  | { readonly kind: 'text'; readonly most: number; readonly required?: true; readonly emptyIsFine?: true }
  | { readonly kind: 'integer'; readonly least: number; readonly most: number; readonly required?: true }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'enum' }
  | { readonly kind: 'id'; readonly required: true }
  | { readonly kind: 'messages' };

interface Route {
  readonly name: string;
  readonly method: 'POST' | 'PATCH';
  readonly path: () => string;
  readonly authenticated: boolean;
  /** False if the body is optional. */
  readonly bodyRequired: boolean;
  readonly good: () => Record<string, unknown>;
  readonly fields: Readonly<Record<string, Field>>;
}

const largestInteger = 2_147_483_647;
let accounts = 0;

const routes: Route[] = [
  {
    name: 'register',
    method: 'POST',
    path: () => '/api/v1/auth/register',
    authenticated: false,
    bodyRequired: true,
    good: () => ({ email: `hostile${++accounts}@example.com`, password: 'correct horse', name: 'Ada' }),
    fields: {
      email: { kind: 'text', most: 254, required: true },
      password: { kind: 'text', most: 128, required: true },
      name: { kind: 'text', most: 100, required: true },
      turnstileToken: { kind: 'text', most: 2048, emptyIsFine: true },
    },
  },
  {
    name: 'login',
    method: 'POST',
    path: () => '/api/v1/auth/login',
    authenticated: false,
    bodyRequired: true,
    good: () => ({ email: world.developer.email, password: world.developer.password }),
    fields: {
      email: { kind: 'text', most: 254, required: true },
      password: { kind: 'text', most: 1024, required: true },
      turnstileToken: { kind: 'text', most: 2048, emptyIsFine: true },
    },
  },
  {
    name: 'create application',
    method: 'POST',
    path: () => '/api/v1/apps/create',
    authenticated: true,
    bodyRequired: true,
    good: () => ({ name: 'Photo Lab' }),
    fields: {
      name: { kind: 'text', most: 100, required: true },
      version: { kind: 'text', most: 64 },
    },
  },
  {
    name: 'change settings',
    method: 'PATCH',
    path: () => `/api/v1/apps/${application.id}/settings`,
    authenticated: true,
    bodyRequired: true,
    good: () => ({ version: '1.0.0' }),
    fields: {
      version: { kind: 'text', most: 64 },
      status: { kind: 'enum' },
      hwidLockEnabled: { kind: 'boolean' },
      requireLicenseToRegister: { kind: 'boolean' },
      registrationEnabled: { kind: 'boolean' },
      responseMessages: { kind: 'messages' },
    },
  },
  {
    name: 'mint licenses',
    method: 'POST',
    path: () => '/api/v1/licenses/create',
    authenticated: true,
    bodyRequired: true,
    good: () => ({ applicationId: application.id, amount: 1, durationSeconds: 0 }),
    fields: {
      applicationId: { kind: 'id', required: true },
      amount: { kind: 'integer', least: 1, most: 10_000, required: true },
      durationSeconds: { kind: 'integer', least: 0, most: largestInteger, required: true },
      subscriptionTier: { kind: 'integer', least: 0, most: largestInteger },
      note: { kind: 'text', most: 1000 },
      mask: { kind: 'text', most: 128 },
    },
  },
  {
    name: 'ban a license',
    method: 'POST',
    path: () => `/api/v1/licenses/${licenseId}/ban`,
    authenticated: true,
    bodyRequired: false,
    good: () => ({ scope: 'license' }),
    fields: { scope: { kind: 'enum' }, ip: { kind: 'text', most: 64 } },
  },
  {
    name: 'create an API key',
    method: 'POST',
    path: () => '/api/v1/account/api-keys',
    authenticated: true,
    bodyRequired: true,
    good: () => ({ name: 'build server' }),
    fields: { name: { kind: 'text', most: 100, required: true } },
  },
];

const each = <Item extends { name: string }>(items: readonly Item[]) =>
  items.map((item) => [item.name, item] as const);

/** A value as JSON text, so that it can be text that JSON.stringify would not produce. */
const literal = (value: unknown) => JSON.stringify(value);
const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;

const notText = ['null', '0', '1.5', 'true', '{}', '[]', '["x"]', '{"toString":"x"}', deep('[', ']', 50_000)];
const brokenText = [
  '"a\\u0000b"',
  '"\\u0000"',
  '"\\ud800"',
  '"a\\udc00b"',
  '"\\udc00\\ud800"',
  '"\\ud83d \\ude00"',
];

/** JSON texts that a field of this kind must refuse. */
function refused(field: Field): string[] {
  switch (field.kind) {
    case 'text':
      return [
        ...notText,
        ...brokenText,
        ...(field.emptyIsFine ? [] : ['""']),
        literal('x'.repeat(field.most + 1)),
        literal('💥'.repeat(field.most / 2 + 1)),
        literal('x'.repeat(90_000)),
      ];
    case 'integer':
      return [
        ...['null', '"1"', '""', 'true', '[1]', '{}', '1.5', '0.1', '1e-1', '1e400', '-1e400'],
        ...['9007199254740993', '1e308', '-1', '4294967297', '1'.repeat(400)],
        literal(field.least - 1),
        literal(field.most + 1),
      ];
    case 'boolean':
      return ['null', '0', '1', '"true"', '"false"', '""', '[]', '[true]', '{}'];
    case 'enum':
      return [
        ...notText,
        ...brokenText,
        '""',
        '"unknown"',
        '"ACTIVE"',
        '" active"',
        '"License"',
        '"__proto__"',
      ];
    case 'id':
      return [
        ...notText,
        ...brokenText,
        ...['""', '"1"', '"not-a-uuid"', '"0198c3a0-0000-7000-8000-00000000000"', '"%"'],
        literal(application.id.toUpperCase()),
        literal(`{${application.id}}`),
        literal(`urn:uuid:${application.id}`),
        literal(application.id.replaceAll('-', '')),
        literal(`${application.id}\n`),
        literal("' OR 1=1 --"),
      ];
    case 'messages':
      return [
        ...['null', '0', 'true', '"OK"', '[]', '["OK"]', '[["OK","x"]]', deep('{"OK":', '}', 50_000)],
        ...[...notText, ...brokenText, '""', literal('x'.repeat(501))].map((value) => `{"OK":${value}}`),
        ...[
          '{"NO_SUCH_KEY":"x"}',
          '{"ok":"x"}',
          '{"":"x"}',
          '{"constructor":"x"}',
          '{"OK":"x","\\u0000":"x"}',
        ],
      ];
  }
}

const clientOf = (route: Route) => (route.authenticated ? world.client : new ApiClient(server.baseUrl));
const withField = (good: Record<string, unknown>, field: string, value: string) => {
  const others = Object.entries(good).filter(([name]) => name !== field);
  return `{${[...others.map(([name, other]) => `${literal(name)}:${literal(other)}`), `${literal(field)}:${value}`].join(',')}}`;
};
const send = (route: Route, body?: unknown): Promise<ApiAnswer> =>
  clientOf(route).send(route.method, route.path(), body);
const short = (value: string) => (value.length > 60 ? `${value.slice(0, 60)}… (${value.length})` : value);

describe.each(each(routes))('%s', (_name, route) => {
  test('accepts its valid body', async () => {
    expect((await send(route, route.good())).status).toBeLessThan(300);
  });

  test('reports each missing field', async () => {
    for (const [name, field] of Object.entries(route.fields)) {
      const body = { ...route.good(), [name]: undefined };
      if ('required' in field) expectIssue(await send(route, body), name);
    }
  });

  test('refuses invalid values of each field and reports the field', async () => {
    for (const [name, field] of Object.entries(route.fields)) {
      for (const value of refused(field)) {
        const answer = await send(route, withField(route.good(), name, value));
        expect(`${name} ${short(value)}: ${answer.status}`).toBe(`${name} ${short(value)}: 400`);
        expectIssue(answer, name);
      }
    }
  });

  test('refuses a body that is not a JSON object', async () => {
    const good = literal(route.good());
    const bodies = [
      ...[
        'null',
        'true',
        '1',
        '"text"',
        '[]',
        `[${good}]`,
        '{',
        '}',
        '{"a"',
        "{'a':1}",
        '{"a":1,}',
        'undefined',
      ],
      ...[
        'NaN',
        '{"a":\u0000}',
        '\ufeff',
        ' ',
        `${good}${good}`,
        `${good}x`,
        `/* */${good}`,
        '<xml/>',
        'a=1&b=2',
      ],
      ...['{"a":"\n"}', '{"a":"\\x41"}', '{"a":01}', deep('[', ']', 50_000), '['.repeat(90_000)],
    ];
    for (const body of bodies) {
      const answer = await send(route, body);
      expect(`${short(body)}: ${answer.status}`).toBe(`${short(body)}: 400`);
      expectFailure(answer, 400, 'VALIDATION_FAILED');
    }
  });

  test('refuses unknown members of any name and depth', async () => {
    const members = [
      ['__proto__', '{"name":"polluted","scope":"hwid","version":"polluted"}'],
      ['constructor', '{"prototype":{"polluted":true}}'],
      ['toString', '"x"'],
      ['hasOwnProperty', 'null'],
      ['deep', deep('[', ']', 50_000)],
      ['deep', deep('{"a":', '}', 15_000)],
      ['unknown', brokenText[0] ?? ''],
    ] as const;
    for (const [name, value] of members) {
      const answer = await send(route, withField(route.good(), name, value));
      expect(`${name}: ${answer.status}`).toBe(`${name}: 400`);
      expectIssue(answer, name);
      expect(JSON.stringify(answer.body)).not.toContain('polluted');
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  test('refuses a body that is not declared as JSON', async () => {
    const types = [
      ...[
        'text/plain',
        'text/plain;application/json',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ],
      ...['application/xml', 'application/jsonp', 'application/json-seq', 'json', '*/*', '', 'text/json'],
    ];
    for (const type of types) {
      const client = clientOf(route).with({ headers: { 'Content-Type': type } });
      const answer = await client.send(route.method, route.path(), JSON.stringify(route.good()));
      expect(`${type}: ${answer.status}`).toBe(`${type}: 400`);
      expectFailure(answer, 400, 'VALIDATION_FAILED');
    }
  });

  test('accepts every declaration of JSON', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'application/json;charset="utf-8"',
      'Application/JSON',
    ]) {
      const client = clientOf(route).with({ headers: { 'Content-Type': type } });
      const answer = await client.send(route.method, route.path(), JSON.stringify(route.good()));
      expect(`${type}: ${answer.status < 300}`, JSON.stringify(answer.body)).toBe(`${type}: true`);
    }
  });

  test('without a body', async () => {
    const answer = await send(route);
    if (route.bodyRequired) expectFailure(answer, 400, 'VALIDATION_FAILED');
    else expect(answer.status).toBe(200);
  });

  const most = route.authenticated ? 8 * 1024 * 1024 : 100 * 1024;

  test(`refuses a body beyond ${most} bytes, with or without a declared length`, async () => {
    const body = paddedTo(most + 1, route.good());
    const cookie = await cookieOfWorld();
    for (const chunked of [false, true]) {
      const answer = await sendRaw(server, {
        method: route.method,
        path: route.path(),
        headers: {
          'Content-Type': 'application/json',
          'X-Forwarded-For': world.client.ip,
          ...(route.authenticated && { Cookie: `service_session=${cookie}` }),
        },
        body,
        chunked,
      });
      expectFailure(answer, 413, 'PAYLOAD_TOO_LARGE');
    }
  });

  test('refuses invalid UTF-8 instead of replacing it', async () => {
    const cookie = await cookieOfWorld();
    const broken = ['ff', 'c328', 'c080', 'eda080', 'f4908080', 'e282', '80', 'fffe'];
    for (const hex of [...broken, 'c3a9']) {
      const [before = '', after = ''] = withField(route.good(), 'unheardOf', '"a|b"').split('|');
      const answer = await sendRaw(server, {
        method: route.method,
        path: route.path(),
        headers: {
          'Content-Type': 'application/json',
          'X-Forwarded-For': world.client.ip,
          ...(route.authenticated && { Cookie: `service_session=${cookie}` }),
        },
        body: Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]),
      });
      const { issues } = expectFailure(answer, 400, 'VALIDATION_FAILED');
      // é is valid UTF-8: in that body only the member is refused, the other bodies completely.
      expect(issues?.[0]?.path).toEqual(hex === 'c3a9' ? ['unheardOf'] : []);
    }
  });

  test(`accepts a body of ${most} bytes`, async () => {
    const answer = await send(route, paddedTo(most, route.good()));
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  });

  test('checks the credential before the body', async () => {
    if (!route.authenticated) return;
    const visitor = new ApiClient(server.baseUrl);
    const strangers: [string, ApiClient][] = [
      ['nobody', visitor],
      ['cookie', visitor.with({ cookie: 'rubbish' })],
      ['empty cookie', visitor.with({ cookie: '' })],
      ['bearer', visitor.with({ bearer: 'rubbish' })],
      ['key of nobody', visitor.with({ bearer: `service_live_${'A'.repeat(43)}` })],
      ['basic', visitor.with({ headers: { Authorization: 'Basic YTpi' } })],
      ['odd', visitor.with({ headers: { Authorization: 'Bearer \u00ff\u00fe' } })],
    ];
    for (const [who, client] of strangers) {
      for (const body of [undefined, {}, route.good(), '{']) {
        const answer = await client.send(route.method, route.path(), body);
        expect(`${who}: ${answer.status}`).toBe(`${who}: 401`);
        expectFailure(answer, 401, 'UNAUTHENTICATED');
      }
    }
  });
});

let worldCookie: string | undefined;
async function cookieOfWorld(): Promise<string> {
  if (worldCookie !== undefined) return worldCookie;
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
  const [header = ''] = answer.headers.getSetCookie();
  worldCookie = /^service_session=([^;]+)/.exec(header)?.[1] ?? '';
  return worldCookie;
}

describe('an id in a path', () => {
  const idRoutes = [
    { name: 'get', method: 'GET', path: (id: string) => `/api/v1/apps/${id}`, code: 'APP_NOT_FOUND' },
    { name: 'delete', method: 'DELETE', path: (id: string) => `/api/v1/apps/${id}`, code: 'APP_NOT_FOUND' },
    {
      name: 'settings',
      method: 'PATCH',
      path: (id: string) => `/api/v1/apps/${id}/settings`,
      code: 'APP_NOT_FOUND',
      body: { version: '2' },
    },
    {
      name: 'licenses',
      method: 'GET',
      path: (id: string) => `/api/v1/apps/${id}/licenses`,
      code: 'APP_NOT_FOUND',
    },
    {
      name: 'ban',
      method: 'POST',
      path: (id: string) => `/api/v1/licenses/${id}/ban`,
      code: 'LICENSE_NOT_FOUND',
    },
  ];

  test.each(each(idRoutes))('that is invalid is not found: %s', async (_name, route) => {
    const own = route.code === 'APP_NOT_FOUND' ? application.id : licenseId;
    const ids = [
      ...['0198c3a0-0000-7000-8000-000000000000', '00000000-0000-0000-0000-000000000000', '1', '-1', 'null'],
      ...[
        'undefined',
        '__proto__',
        'constructor',
        'not-a-uuid',
        '%00',
        '%20',
        '%F0%9F%92%A5',
        '%ED%A0%80',
        '%E0%A4%A',
      ],
      ...['%', '..%2F..%2Fetc%2Fpasswd', "'%20OR%201=1%20--", '%27%3B%20DROP%20TABLE%20licenses', '*'],
      ...['ffffffff-ffff-ffff-ffff-ffffffffffff', 'x'.repeat(8_000), '{id}', ':id', `${own},${own}`],
      ...[own.toUpperCase(), `${own}%00`, `${own}%0A`, `%7B${own}%7D`, own.replaceAll('-', ''), `%20${own}`],
    ];
    const answers: unknown[] = [];
    for (const id of ids) {
      const answer = await world.client.send(route.method, route.path(id), route.body);
      expect(`${short(id)}: ${answer.status}`).toBe(`${short(id)}: 404`);
      expectFailure(answer, 404, route.code);
      answers.push(answer.body);
    }
    expect(new Set(answers.map((body) => JSON.stringify(body))).size, 'all answers read the same').toBe(1);
  });

  test('of another kind is not found either', async () => {
    expectFailure(await world.client.get(`/api/v1/apps/${licenseId}`), 404, 'APP_NOT_FOUND');
    expectFailure(
      await world.client.post(`/api/v1/licenses/${application.id}/ban`),
      404,
      'LICENSE_NOT_FOUND',
    );
    const body = { applicationId: licenseId, amount: 1, durationSeconds: 0 };
    expectFailure(await world.client.post('/api/v1/licenses/create', body), 404, 'APP_NOT_FOUND');
  });
});

test('any query gets a page or a refusal', async () => {
  const path = `/api/v1/apps/${application.id}/licenses`;
  const good = ['', '?', '?&&', '?q=', '?q', '?q=%25', '?q=%E0%A4%A'];
  for (const query of good) {
    expect(`${query}: ${(await world.client.get(path + query)).status}`).toBe(`${query}: 200`);
  }
  const bad = [
    '?limit',
    '?limit=&q=',
    '?unknown=1',
    '?__proto__=1',
    '?__proto__[limit]=0',
    '?q=a&q=b',
    '?cursor=a&cursor=b',
    '?cursor',
    '?q=%00',
    `?q=${'x'.repeat(201)}`,
  ];
  for (const query of bad) {
    const answer = await world.client.get(path + query);
    expect(`${query}: ${answer.status}`).toBe(`${query}: 400`);
    expectFailure(answer, 400, 'VALIDATION_FAILED');
  }
});

test('no header causes an internal error', async () => {
  const headers: Record<string, string>[] = [
    { Cookie: 'service_session' },
    { Cookie: ';;;=;' },
    { Cookie: `service_session="${'x'.repeat(100)}"` },
    { Cookie: 'service_session=%E0%A4%A; service_session=b' },
    { Authorization: 'Bearer' },
    { Authorization: `Bearer ${' '.repeat(6_000)}x` },
    { 'X-Forwarded-For': 'x'.repeat(6_000) },
    { 'X-Forwarded-For': ','.repeat(6_000) },
    { 'X-Forwarded-For': '::ffff:999.1.1.1' },
    { 'X-Forwarded-For': 'fe80::1%eth0' },
    { 'Content-Type': 'application/json; charset=utf-16' },
    { Origin: 'null' },
    { Accept: 'text/html' },
    { 'Accept-Encoding': 'br' },
  ];
  for (const each of headers) {
    const answer = await sendRaw(server, { method: 'GET', path: '/api/v1/auth/me', headers: each });
    expect(`${Object.keys(each)}: ${answer.status}`).toBe(`${Object.keys(each)}: 401`);
    expectFailure(answer, 401, 'UNAUTHENTICATED');
  }
});

test('none of these requests caused an unexpected error', () => {
  expect(server.logLines.filter((line) => line.includes('request failed unexpectedly'))).toEqual([]);
});
