import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPrivateKey } from '../../src/crypto/sealed-private-key.ts';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { useServer } from '../setup/use-world.ts';
import {
  apiKeyAnswer,
  createdApplication,
  developerAnswer,
  expectSuccess,
  mintedAnswer,
  noLimits,
  userAnswer,
} from './support.ts';

const masterSecret = 'the master secret of this very test, long enough';

const server = useServer({ env: { SERVICE_SECRET: masterSecret, LOG_LEVEL: 'trace', ...noLimits } });

/** All encodings of a text or of bytes. */
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

test('a complete scenario reveals each secret at most once, and logs none', async () => {
  const password = 'Correct "horse" battery 1!';
  const wrongPassword = 'Correct "horse" battery 2!';
  const email = 'story@example.com';
  const { prisma } = server.deps.services.database;

  /** Bodies and header fields of every response, without allowed secrets. */
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

  const userPassword = 'The user\'s "own" password 1';
  const usedKey = licenseKeys[1] ?? '';
  const users = `${path}/users`;
  const newUser = { username: 'grace', password: userPassword, licenseKey: usedKey };
  const madeUser = note('create user', await client.post(users, newUser));
  const { user } = expectSuccess(madeUser, 201, userAnswer);
  note('create user again', await client.post(users, newUser));
  note('create user badly', await client.post(users, { ...newUser, username: userPassword }));
  note('create user without a license', await client.post(users, { ...newUser, licenseKey: 'none' }));
  const sessionTokens: string[] = [];
  const clientSession = await openSession(server, application);
  for (const [verb, members] of [
    ['register', { username: 'alan', password: userPassword, licenseKey: licenseKeys[2] }],
    ['login', { username: 'grace', password: userPassword }],
    ['login', { username: 'grace', password: wrongPassword }],
  ] as const) {
    const granted = await clientSession.ask(`/api/v1/client/${verb}`, members);
    if (granted.success === true) sessionTokens.push(String(granted.sessionToken));
  }
  expect(sessionTokens).toHaveLength(2);
  const userHashes = (await prisma.endUser.findMany({ select: { passwordHash: true } })).map(
    (each) => each.passwordHash,
  );

  const blindPlaintext = randomBytes(15).toString('hex').toUpperCase();
  const blind = {
    applicationId: application.id,
    keys: [
      {
        licenseKeyHash: createHash('sha256').update(blindPlaintext).digest('hex'),
        licenseKeyPrefix: blindPlaintext.slice(0, 5),
        durationSeconds: 0,
      },
    ],
  };
  note('blind mint', await client.post('/api/v1/licenses/create-blind', blind));
  note('blind mint again', await client.post('/api/v1/licenses/create-blind', blind));
  note('validated blind', await clientSession.client.post(validatePath, { licenseKey: blindPlaintext }));
  await clientSession.ask(validatePath, { licenseKey: blindPlaintext });

  note('users', await client.get(users));
  note('found users', await client.get(`${users}?${new URLSearchParams({ q: usedKey }).toString()}`));
  note('export of users', await client.get(`${users}/export`));
  note('bans', await client.get(`${path}/bans`));
  note('extend', await client.post(`${path}/licenses/extend`, { seconds: 60 }));
  note('tier', await client.post(`/api/v1/licenses/${keys[1]?.id}/tier`, { subscriptionTier: 1 }));
  note('reset of a user', await client.post(`${users}/${user.id}/reset-hwid`));
  note('reset', await client.post(`/api/v1/licenses/${keys[1]?.id}/reset-hwid`));
  note('delete a user', await client.delete(`${users}/${user.id}`));
  note('delete a license', await client.delete(`/api/v1/licenses/${keys[2]?.id}`));
  await server.deps.services.securityLog.flush();
  note('log', await client.get(`${path}/logs`));
  note('figures', await client.get('/api/v1/metrics/overview'));

  const vault = {
    vaultSaltB64: randomBytes(24).toString('base64'),
    vaultCheckB64: randomBytes(48).toString('base64'),
  };
  const ownAccount = '/api/v1/account';
  note('vault', await client.post(`${ownAccount}/vault`, { ...vault, password }), Object.values(vault));
  note(
    'vault with a wrong password',
    await client.post(`${ownAccount}/vault`, { ...vault, password: wrongPassword }),
  );
  note('bad vault', await client.post(`${ownAccount}/vault`, { ...vault, vaultSaltB64: password, password }));
  note('mask', await client.post(`${ownAccount}/mask`, { mask: 'XXXXXXXXXXXXX' }));
  note('bad mask', await client.post(`${ownAccount}/mask`, { mask: password }));
  note('mode', await client.post(`${ownAccount}/mode`, { mode: 'default', password }));
  note('bad mode', await client.post(`${ownAccount}/mode`, { mode: password, password }));
  note(
    'mode with a wrong password',
    await client.post(`${ownAccount}/mode`, { mode: 'default', password: wrongPassword }),
  );
  note('keys', await client.get(`${ownAccount}/api-keys`));
  note('revoke', await client.post(`${ownAccount}/api-keys/${apiKeyId}/revoke`));
  note('revoke by token', await client.post(`${ownAccount}/api-keys/${apiKey}/revoke`));
  note('revoked', await byKey.get('/api/v1/auth/me'));
  note('export', await client.get(`${ownAccount}/export`));
  const oldHash = (await prisma.developer.findUniqueOrThrow({ where: { id: developer.id } })).passwordHash;
  const newPassword = 'Another "horse" battery 3!';
  note('bad profile', await client.patch(`${ownAccount}/profile`, { email: newPassword, password }));
  const moved = note('profile', await client.patch(`${ownAccount}/profile`, { newPassword, password }));
  const thirdCookie = cookieOf(moved) ?? '';
  expect(thirdCookie).not.toBe('');
  note('ended', await client.get('/api/v1/auth/me'));
  const renewed = visitor.with({ cookie: thirdCookie });
  note('refused deletion', await renewed.post(`${ownAccount}/delete`, { confirm: 'DELETE', password }));
  note('export again', await renewed.get(`${ownAccount}/export`));
  note('list applications', await renewed.get('/api/v1/apps/'));
  note('openapi', await visitor.get('/api/v1/openapi.json'));
  note('nothing', await renewed.get('/api/v1/nothing'));
  note('not JSON', await renewed.post('/api/v1/apps/create', `{"name":"${apiKey}`));

  const account = await prisma.developer.findUniqueOrThrow({ where: { id: developer.id } });
  const row = await prisma.application.findUniqueOrThrow({ where: { id: application.id } });
  const { keyring } = server.deps.services;
  const seed = openPrivateKey(keyring, application.id, row.privateKeyEncrypted);
  await prisma.$executeRaw`ALTER TABLE security_log ADD CONSTRAINT refuses CHECK (event = '') NOT VALID`;
  note('unexpected failure', await renewed.post('/api/v1/licenses/create', mint));
  note('unexpected login', await visitor.post('/api/v1/auth/login', { email, password: newPassword }));
  note('unexpected key', await renewed.post('/api/v1/account/api-keys', { name: 'key' }));
  expect(answers.slice(-3).every(({ text }) => text.includes('INTERNAL'))).toBe(true);
  await prisma.$executeRaw`ALTER TABLE security_log DROP CONSTRAINT refuses`;
  note('delete', await renewed.delete(path));
  await server.deps.services.securityLog.flush();

  const secrets: Record<string, string | Uint8Array> = {
    password,
    wrongPassword,
    newPassword,
    oldHash,
    thirdCookie,
    userPassword,
    ...Object.fromEntries(userHashes.map((hash, index) => [`userHash${index}`, hash])),
    ...Object.fromEntries(sessionTokens.map((token, index) => [`sessionToken${index}`, token])),
    ...Object.fromEntries(
      sessionTokens.map((token, index) => [
        `sessionTokenHash${index}`,
        createHash('sha256').update(token).digest(),
      ]),
    ),
    blindPlaintext,
    blindHash: createHash('sha256').update(blindPlaintext).digest(),
    ...vault,
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
  note(
    'delete the account',
    await renewed.post(`${ownAccount}/delete`, { confirm: 'DELETE', password: newPassword }),
  );
  note('logout', await renewed.post('/api/v1/auth/logout'));
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
  const shown = answers.filter(({ what }) => ['mint', 'api key', 'vault'].includes(what));
  const succeeded = [
    'create user',
    'export of users',
    'blind mint',
    'log',
    'mode',
    'keys',
    'revoke',
    'export',
    'export again',
    'profile',
    'delete a user',
    'delete a license',
    'delete the account',
  ];
  for (const { what, text } of answers) {
    if (succeeded.includes(what)) expect(text.slice(0, 200), what).toContain('"success":true');
  }
  expect(shown.every(({ text, mayHold }) => mayHold.every((secret) => text.includes(secret)))).toBe(true);
  expect(apiKeyId).not.toBe('');
});
