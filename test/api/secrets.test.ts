import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPrivateKey } from '../../src/crypto/sealed-private-key.ts';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { apiKeyAnswer, createdApplication, developerAnswer, expectSuccess, mintedAnswer } from './support.ts';

const masterSecret = 'the master secret of this very test, long enough';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SERVICE_SECRET: masterSecret, LOG_LEVEL: 'trace' } });
});
afterAll(() => server.close());

/** Every way that a text, or bytes, could be written down. */
function spellings(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [
    ...(typeof secret === 'string' ? [secret, encodeURIComponent(secret)] : []),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
    [...bytes].join(','),
  ];
}

test('a whole story shows each secret once at most, and logs none', async () => {
  const password = 'Correct "horse" battery 1!';
  const wrongPassword = 'Correct "horse" battery 2!';
  const email = 'story@example.com';
  const { prisma } = server.deps.services.database;

  /** Bodies and header fields of every answer, less what may stand there. */
  const answers: { readonly what: string; readonly text: string; readonly mayHold: readonly string[] }[] = [];
  const note = (what: string, answer: ApiAnswer, mayHold: readonly string[] = []) => {
    const headers = [...answer.headers].filter(([name]) => name !== 'set-cookie');
    answers.push({ what, text: JSON.stringify([answer.body, headers]), mayHold });
    return answer;
  };

  const visitor = new ApiClient(server.baseUrl);
  const registered = note(
    'register',
    await visitor.post('/api/v1/auth/register', { email, password, name: 'Ada' }),
  );
  const { developer } = expectSuccess(registered, 201, developerAnswer);
  const firstCookie = cookieOf(registered) ?? '';
  const again = { email, password, name: 'Ada' };
  note('register again', await visitor.post('/api/v1/auth/register', again));
  note('login badly', await visitor.post('/api/v1/auth/login', { email, password: wrongPassword }));
  note('login wrongly', await visitor.post('/api/v1/auth/login', { email, password: [password] }));
  const login = note('login', await visitor.post('/api/v1/auth/login', { email, password }));
  const secondCookie = cookieOf(login) ?? '';
  const client = visitor.with({ cookie: secondCookie });
  note('me', await client.get('/api/v1/auth/me'));
  note('tampered', await visitor.with({ cookie: `${secondCookie}x` }).get('/api/v1/auth/me'));
  note(
    'foreign',
    await client.with({ headers: { Origin: 'https://evil.example' } }).post('/api/v1/auth/logout'),
  );

  const createdKey = await client.post('/api/v1/account/api-keys', { name: 'key' });
  const { apiKey, id: apiKeyId } = expectSuccess(createdKey, 201, apiKeyAnswer).key;
  note('api key', createdKey, [apiKey]);
  const byKey = visitor.with({ bearer: apiKey });
  note('me by key', await byKey.get('/api/v1/auth/me'));
  note('bad key', await visitor.with({ bearer: `${apiKey}x` }).get('/api/v1/auth/me'));

  const created = note('create application', await byKey.post('/api/v1/apps/create', { name: 'Photo Lab' }));
  const { application } = expectSuccess(created, 201, createdApplication);
  const path = `/api/v1/apps/${application.id}`;
  note('settings', await client.patch(`${path}/settings`, { responseMessages: { OK: 'Hi' } }));
  note('bad settings', await client.patch(`${path}/settings`, { status: password }));
  const mint = { applicationId: application.id, amount: 3, durationSeconds: 60, note: 'for Bob' };
  const minted = await client.post('/api/v1/licenses/create', mint);
  const { keys } = expectSuccess(minted, 201, mintedAnswer);
  const licenseKeys = keys.map((key) => key.licenseKey);
  note('mint', minted, licenseKeys);
  const session = await openSession(server, application);
  for (const licenseKey of [...licenseKeys, 'a key that is none']) {
    await session.ask(validatePath, { licenseKey, hwid: 'device' });
  }
  note('find', await client.get(`${path}/licenses?${new URLSearchParams({ q: licenseKeys[0] ?? '' })}`));
  note('list', await client.get(`${path}/licenses`));
  note('ban', await client.post(`/api/v1/licenses/${keys[0]?.id}/ban`, { scope: 'hwid_and_ip' }));
  note('get', await client.get(path));
  note('list applications', await byKey.get('/api/v1/apps/'));
  note('openapi', await visitor.get('/api/v1/openapi.json'));
  note('nothing', await client.get('/api/v1/nothing'));
  note('not JSON', await client.post('/api/v1/apps/create', `{"name":"${apiKey}`));

  const account = await prisma.developer.findUniqueOrThrow({ where: { id: developer.id } });
  const row = await prisma.application.findUniqueOrThrow({ where: { id: application.id } });
  const { keyring } = server.deps.services;
  const seed = openPrivateKey(keyring, application.id, row.privateKeyEncrypted);
  await prisma.$executeRaw`ALTER TABLE security_log ADD CONSTRAINT refuses CHECK (event = '') NOT VALID`;
  note('unexpected failure', await client.post('/api/v1/licenses/create', mint));
  note('unexpected login', await visitor.post('/api/v1/auth/login', { email, password }));
  note('unexpected key', await client.post('/api/v1/account/api-keys', { name: 'key' }));
  expect(answers.slice(-3).every(({ text }) => text.includes('INTERNAL'))).toBe(true);
  await prisma.$executeRaw`ALTER TABLE security_log DROP CONSTRAINT refuses`;
  note('delete', await client.delete(path));
  note('logout', await client.post('/api/v1/auth/logout'));
  await server.deps.services.securityLog.flush();

  const secrets: Record<string, string | Uint8Array> = {
    password,
    wrongPassword,
    passwordHash: account.passwordHash,
    firstCookie,
    secondCookie,
    apiKey,
    apiKeyHash: createHash('sha256').update(apiKey).digest(),
    masterSecret,
    seed: Buffer.from(seed),
    sealedSeed: row.privateKeyEncrypted,
    applicationKey: keyring.applicationKey,
    ticketSecret: keyring.ticketSecret,
    cookieKey: Buffer.from(String(keyring.cookie.privateKey.export({ format: 'jwk' }).d), 'base64url'),
    ...Object.fromEntries(licenseKeys.map((key, index) => [`licenseKey${index}`, key])),
    ...Object.fromEntries(
      licenseKeys.map((key, index) => [`licenseHash${index}`, createHash('sha256').update(key).digest()]),
    ),
  };
  const events = await prisma.securityLogEntry.findMany({ where: { developerId: developer.id } });
  const texts = [
    ...answers,
    { what: 'the security log', text: JSON.stringify(events), mayHold: [] },
    ...server.logLines.map((text) => ({ what: 'a log line', text, mayHold: [] })),
  ];
  expect(server.logLines.length).toBeGreaterThan(2);
  expect(events.length).toBeGreaterThan(2);

  const leaks = texts.flatMap(({ what, text, mayHold }) =>
    Object.entries(secrets)
      .filter(([, secret]) => typeof secret !== 'string' || !mayHold.includes(secret))
      .filter(([, secret]) =>
        spellings(secret).some(
          (spelling) => text.includes(spelling) || text.includes(JSON.stringify(spelling).slice(1, -1)),
        ),
      )
      .map(([name]) => `${name} in ${what}`),
  );
  expect(leaks).toEqual([]);
  const shown = answers.filter(({ what }) => what === 'mint' || what === 'api key');
  expect(shown.every(({ text, mayHold }) => mayHold.every((secret) => text.includes(secret)))).toBe(true);
  expect(apiKeyId).not.toBe('');
});
