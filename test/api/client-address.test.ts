import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ApiAnswer, ApiClient, randomIp } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, sendRaw } from './support.ts';

/** The client's address as in the security log and in rate limits. */

const password = 'correct horse battery';
let accounts = 0;

async function ask(server: TestServer, forwarded: string | null, path = '/api/v1/auth/login', body = '{}') {
  return sendRaw(server, {
    method: 'POST',
    path,
    headers: {
      'Content-Type': 'application/json',
      ...(forwarded !== null && { 'X-Forwarded-For': forwarded }),
    },
    body,
  });
}

/** The logged address of a registration with this header. */
async function loggedAddress(server: TestServer, forwarded: string | null): Promise<string | null> {
  const email = `address${++accounts}@example.com`;
  const body = JSON.stringify({ email, password, name: 'Ada' });
  const answer = await ask(server, forwarded, '/api/v1/auth/register', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const { prisma } = server.deps.services.database;
  const { id } = await prisma.developer.findFirstOrThrow({ where: { email } });
  const entry = await prisma.securityLogEntry.findFirstOrThrow({
    where: { developerId: id, event: 'developer_registered' },
  });
  return entry.ip;
}

const remaining = (answer: ApiAnswer) => Number(answer.headers.get('RateLimit-Remaining'));

/** Whether two clients share a rate limit. */
async function shareBucket(server: TestServer, first: string | null, second: string | null) {
  const before = remaining(await ask(server, first));
  const between = remaining(await ask(server, second));
  const after = remaining(await ask(server, first));
  return between === before - 1 && after === before - 2;
}

const env = { RATE_LIMITS: 'auth=100000' };

describe('with TRUST_PROXY 0', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { ...env, TRUST_PROXY: '0' } });
  });
  afterAll(() => server.close());

  test.each([null, '203.0.113.1', '203.0.113.1, 203.0.113.2', 'rubbish', '', '::1'])(
    'X-Forwarded-For %j changes nothing',
    async (forwarded) => {
      expect(await loggedAddress(server, forwarded)).toBe('127.0.0.1');
      expect(await shareBucket(server, null, forwarded)).toBe(true);
    },
  );

  test('other headers change nothing either', async () => {
    const email = 'headers@example.com';
    const answer = await sendRaw(server, {
      method: 'POST',
      path: '/api/v1/auth/register',
      headers: {
        'Content-Type': 'application/json',
        Forwarded: 'for=203.0.113.1',
        'X-Real-IP': '203.0.113.1',
        'CF-Connecting-IP': '203.0.113.1',
        'True-Client-IP': '203.0.113.1',
        'X-Client-IP': '203.0.113.1',
      },
      body: JSON.stringify({ email, password, name: 'Ada' }),
    });
    expect(answer.status).toBe(201);
    const { prisma } = server.deps.services.database;
    const { id } = await prisma.developer.findFirstOrThrow({ where: { email } });
    const entry = await prisma.securityLogEntry.findFirstOrThrow({ where: { developerId: id } });
    expect(entry.ip).toBe('127.0.0.1');
  });
});

describe('with TRUST_PROXY 1', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { ...env, TRUST_PROXY: '1' } });
  });
  afterAll(() => server.close());

  test.each<[forwarded: string | null, ip: string]>([
    [null, '127.0.0.1'],
    ['203.0.113.1', '203.0.113.1'],
    ['198.51.100.9, 203.0.113.1', '203.0.113.1'],
    ['198.51.100.9,203.0.113.1', '203.0.113.1'],
    ['rubbish, , 203.0.113.1 ', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:CB00:7101', '203.0.113.1'],
    ['2001:DB8:0:0::0001', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113.1:51234', '203.0.113.1'],
    ['198.51.100.9:80, 203.0.113.1:51234', '203.0.113.1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[::ffff:203.0.113.1]:443', '203.0.113.1'],
  ])('%j is %s', async (forwarded, ip) => {
    expect(await loggedAddress(server, forwarded)).toBe(ip);
  });

  test('text that a client puts before its address does not get it another rate limit', async () => {
    const ip = randomIp();
    for (const spoofed of ['198.51.100.1', '127.0.0.1', '::1', 'rubbish', '']) {
      expect(await shareBucket(server, ip, `${spoofed}, ${ip}`)).toBe(true);
    }
    expect(await shareBucket(server, ip, `${ip}, ${randomIp()}`)).toBe(false);
  });

  test('an IPv6 /64 network is one client', async () => {
    const network = `2001:db8:${Math.floor(Math.random() * 0xffff).toString(16)}:1`;
    expect(await shareBucket(server, `${network}::1`, `${network}:ffff:ffff:ffff:ffff`)).toBe(true);
    expect(await shareBucket(server, `${network}::1`, `${network.slice(0, -1)}2::1`)).toBe(false);
  });

  test('an IPv4 address is the same client as its IPv6-mapped form, and not the same as its neighbour', async () => {
    expect(await shareBucket(server, '198.51.100.20', '::ffff:198.51.100.20')).toBe(true);
    expect(await shareBucket(server, '198.51.100.20', '::ffff:c633:6414')).toBe(true);
    expect(await shareBucket(server, '::ffff:198.51.100.21', '::ffff:198.51.100.22')).toBe(false);
  });

  test('all clients with an invalid address count as one', async () => {
    expect(await shareBucket(server, 'rubbish', 'other rubbish')).toBe(true);
    expect(await shareBucket(server, 'rubbish', 'unknown')).toBe(true);
  });

  test.each([
    'rubbish',
    '',
    '203.0.113.1:',
    '203.0.113.1:port',
    '[203.0.113.1',
    '[]:1',
    '203.0.113',
    '1',
    '[2001:db8::1]x',
  ])('%j is an invalid address and is not logged', async (forwarded) => {
    expect(await loggedAddress(server, forwarded)).toBeNull();
  });
});

describe('a client with an unreadable address', () => {
  test('is not banned together with another one, and has no logged address', async () => {
    const server = await startTestServer({ env: { TRUST_PROXY: '1' } });
    onTestFinished(() => server.close());
    const world = await createWorld(server);
    const application = await world.createApplication();
    const client = new ApiClient(server.baseUrl, { ip: 'unknown' });
    const [cheat, customer] = await application.mint({ amount: 2 });
    const validate = async (licenseKey = '') => {
      const session = await openSession(server, application, { client });
      return session.ask(validatePath, { licenseKey });
    };
    expect(await validate(cheat?.licenseKey)).toMatchObject({ code: 'OK' });
    await server.deps.services.securityLog.flush();
    const { prisma } = server.deps.services.database;
    expect(await prisma.license.findUniqueOrThrow({ where: { id: cheat?.id ?? '' } })).toMatchObject({
      lastIp: null,
    });

    const banned = await world.client.post(`/api/v1/licenses/${cheat?.id}/ban`, { scope: 'hwid_and_ip' });
    expectFailure(banned, 400, 'IP_NOT_KNOWN');
    expect(await prisma.ban.count({ where: { banType: 'ip' } })).toBe(0);
    expect(await validate(customer?.licenseKey)).toMatchObject({ code: 'OK' });
  });

  test('is reported in the log once', async () => {
    const server = await startTestServer({ env: { ...env, TRUST_PROXY: '1' } });
    onTestFinished(() => server.close());
    for (const forwarded of ['203.0.113.1', 'rubbish', 'more rubbish']) await ask(server, forwarded);
    const lines = server.logLines.filter((line) => line.includes('cannot be parsed'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"address":"rubbish"');
  });
});

test('X-Forwarded-For with TRUST_PROXY 0 is reported in the log once', async () => {
  const server = await startTestServer({ env: { ...env, TRUST_PROXY: '0' } });
  onTestFinished(() => server.close());
  const warnings = () => server.logLines.filter((line) => line.includes('but TRUST_PROXY is 0'));
  await ask(server, null);
  expect(warnings()).toHaveLength(0);
  for (let count = 0; count < 3; count += 1) await ask(server, '203.0.113.1');
  expect(warnings()).toHaveLength(1);
});

describe('with TRUST_PROXY 3', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ env: { ...env, TRUST_PROXY: '3' } });
  });
  afterAll(() => server.close());

  test.each<[forwarded: string | null, ip: string]>([
    ['203.0.113.1, 10.0.0.1, 10.0.0.2', '203.0.113.1'],
    ['198.51.100.9, 203.0.113.1, 10.0.0.1, 10.0.0.2', '203.0.113.1'],
    ['a, b, c, d, 203.0.113.1, 10.0.0.1, 10.0.0.2', '203.0.113.1'],
    // Fewer hops than proxies: the request bypassed one of them, so only the socket's address is known.
    ['203.0.113.1, 10.0.0.1', '127.0.0.1'],
    [null, '127.0.0.1'],
  ])('%j is %s', async (forwarded, ip) => {
    expect(await loggedAddress(server, forwarded)).toBe(ip);
  });

  test('a spoofed left part changes nothing', async () => {
    const seen = `${randomIp()}, 10.0.0.1, 10.0.0.2`;
    expect(await shareBucket(server, seen, `198.51.100.1, ${seen}`)).toBe(true);
    expect(await shareBucket(server, seen, `${randomIp()}, 10.0.0.1, 10.0.0.2`)).toBe(false);
  });
});
