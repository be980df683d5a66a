import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { totpCodeOf, wrongTotpCode } from '../setup/second-factor.ts';
import { startTestServer } from '../setup/server.ts';
import { databaseState, sql } from '../setup/stored.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  apiKeyAnswer,
  developerAnswer,
  doneAnswer,
  expectFailure,
  expectSuccess,
  noLimits,
} from './support.ts';

const server = useServer({ env: noLimits });
const now = () => server.clock.now();
const begunAnswer = z.strictObject({ success: z.literal(true), secret: z.string(), uri: z.string() });
const codesAnswer = z.strictObject({ success: z.literal(true), recoveryCodes: z.array(z.string()) });
const securityAnswer = z.strictObject({
  success: z.literal(true),
  security: z.strictObject({
    totpEnabled: z.boolean(),
    recoveryCodesLeft: z.int(),
    requireConfirmation: z.boolean(),
  }),
});

/** An account with TOTP on, and an app that has the secret. */
interface Protected {
  readonly world: World;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

const postTotp = ({ client }: World, path: string, body: object) =>
  client.post(`/api/v1/account/totp/${path}`, body);
const begin = async (world: World) =>
  expectSuccess(await postTotp(world, 'begin', { password: world.developer.password }), 200, begunAnswer);
const security = async ({ client }: World) =>
  expectSuccess(await client.get('/api/v1/account/security'), 200, securityAnswer).security;

/** The next step's code, which no test has used. Codes are good once, so each comes from a step of its own. */
function freshCode(secret: string): string {
  server.clock.step(30);
  return totpCodeOf(secret, now());
}

async function protect(): Promise<Protected> {
  const world = await createWorld(server);
  const { secret } = await begin(world);
  const answer = await postTotp(world, 'confirm', { totpCode: totpCodeOf(secret, now()) });
  return { world, secret, recoveryCodes: expectSuccess(answer, 200, codesAnswer).recoveryCodes };
}

const logIn = (world: World, more: object = {}): Promise<ApiAnswer> =>
  new ApiClient(server.baseUrl).post('/api/v1/auth/login', { ...world.login, ...more });

const eventsOf = ({ developer }: World) =>
  sql<{ event: string; code: string | null; metadata: unknown }>(
    server,
    'SELECT event, code, metadata FROM security_log WHERE developer_id = $1 ORDER BY id',
    [developer.id],
  );
const countOf = async (world: World, event: string) =>
  (await eventsOf(world)).filter((entry) => entry.event === event).length;

describe('setting TOTP up', () => {
  test('needs the password, and gives the secret as text and as the URI of a QR code', async () => {
    const world = await createWorld(server);
    expectFailure(await postTotp(world, 'begin', { password: 'wrong' }), 401, 'INVALID_CREDENTIALS');
    const { secret, uri } = await begin(world);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const { protocol, host, pathname, searchParams } = new URL(uri);
    expect([protocol, host]).toEqual(['otpauth:', 'totp']);
    expect(decodeURIComponent(pathname)).toBe(`/Latchkey:${world.developer.email}`);
    expect(Object.fromEntries(searchParams)).toEqual({
      issuer: 'Latchkey',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  test('changes nothing for a login until a code is confirmed', async () => {
    const world = await createWorld(server);
    const { secret } = await begin(world);
    expect((await logIn(world)).status).toBe(200);
    const wrong = { totpCode: wrongTotpCode(secret, now()) };
    expectFailure(await postTotp(world, 'confirm', wrong), 401, 'TOTP_INVALID');
    expect((await logIn(world)).status).toBe(200);
    expect(await security(world)).toMatchObject({ totpEnabled: false, recoveryCodesLeft: 0 });
  });

  test('gives ten different recovery codes of 80 bits, and is logged', async () => {
    const { world, recoveryCodes } = await protect();
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$/);
    expect(await security(world)).toEqual({
      totpEnabled: true,
      recoveryCodesLeft: 10,
      requireConfirmation: false,
    });
    expect(await countOf(world, 'totp_enabled')).toBe(1);
  });

  test('makes sense only while TOTP is off, and in order', async () => {
    const { world, secret } = await protect();
    const { password } = world.developer;
    expectFailure(await postTotp(world, 'begin', { password }), 409, 'INVALID_TRANSITION');
    const totpCode = freshCode(secret);
    expectFailure(await postTotp(world, 'confirm', { totpCode }), 409, 'INVALID_TRANSITION');
    const other = await createWorld(server);
    expectFailure(await postTotp(other, 'confirm', { totpCode }), 409, 'INVALID_TRANSITION');
    const body = { password: other.developer.password, totpCode };
    expectFailure(await postTotp(other, 'disable', body), 409, 'INVALID_TRANSITION');
    expectFailure(await postTotp(other, 'recovery-codes', body), 409, 'INVALID_TRANSITION');
  });

  test('again before it is confirmed replaces the secret', async () => {
    const world = await createWorld(server);
    const first = await begin(world);
    const second = await begin(world);
    const withFirst = { totpCode: totpCodeOf(first.secret, now()) };
    expectFailure(await postTotp(world, 'confirm', withFirst), 401, 'TOTP_INVALID');
    const withSecond = { totpCode: totpCodeOf(second.secret, now()) };
    expect((await postTotp(world, 'confirm', withSecond)).status).toBe(200);
  });
});

describe('a login with TOTP on', () => {
  let account: Protected;
  beforeEach(async () => {
    account = await protect();
  });

  test('asks for a code only after the right password', async () => {
    const { world } = account;
    expectFailure(await logIn(world, { password: 'wrong' }), 401, 'INVALID_CREDENTIALS');
    const answer = await logIn(world);
    expectFailure(answer, 401, 'TOTP_REQUIRED');
    expect(cookieOf(answer)).toBeUndefined();
  });

  test('succeeds with a code, and answers as documented', async () => {
    const { world, secret } = account;
    const answer = await logIn(world, { totpCode: freshCode(secret) });
    expect(expectSuccess(answer, 200, developerAnswer).developer.id).toBe(world.developer.id);
    const client = new ApiClient(server.baseUrl, { cookie: cookieOf(answer) ?? '' });
    expect((await client.get('/api/v1/auth/me')).status).toBe(200);
  });

  test('accepts a code once', async () => {
    const { world, secret } = account;
    const totpCode = freshCode(secret);
    expect((await logIn(world, { totpCode })).status).toBe(200);
    expectFailure(await logIn(world, { totpCode }), 401, 'TOTP_INVALID');
  });

  test('accepts one of ten parallel uses of a code', async () => {
    const { world, secret } = account;
    const totpCode = freshCode(secret);
    const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(world, { totpCode })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await countOf(world, 'developer_logged_in')).toBe(1);
  });

  test('does not accept the code that turned TOTP on', async () => {
    const world = await createWorld(server);
    const { secret } = await begin(world);
    const totpCode = totpCodeOf(secret, now());
    expect((await postTotp(world, 'confirm', { totpCode })).status).toBe(200);
    expectFailure(await logIn(world, { totpCode }), 401, 'TOTP_INVALID');
  });

  test('accepts the code of the step before and of the one after, and no other', async () => {
    server.clock.hold();
    try {
      const { world, secret } = account;
      const codeAt = (steps: number) => ({ totpCode: totpCodeOf(secret, now() + steps * 30_000) });
      server.clock.step(300);
      expectFailure(await logIn(world, codeAt(-2)), 401, 'TOTP_INVALID');
      expectFailure(await logIn(world, codeAt(2)), 401, 'TOTP_INVALID');
      expect((await logIn(world, codeAt(-1))).status).toBe(200);
      expect((await logIn(world, codeAt(1))).status).toBe(200);
      // Older than the last one that was used.
      expectFailure(await logIn(world, codeAt(0)), 401, 'TOTP_INVALID');
    } finally {
      server.clock.release();
    }
  });

  test('accepts codes again after the clock was hours ahead', async () => {
    const { world, secret } = account;
    server.clock.step(6 * 3600);
    expect((await logIn(world, { totpCode: totpCodeOf(secret, now()) })).status).toBe(200);
    server.clock.step(-6 * 3600);
    const totpCode = freshCode(secret);
    expect((await logIn(world, { totpCode })).status).toBe(200);
    expectFailure(await logIn(world, { totpCode }), 401, 'TOTP_INVALID');
  });

  test.each(['1234567', '12345', '12345a', '１２３４５６', '', ' 123456'])(
    'refuses the malformed code %j, also for an account without TOTP',
    async (totpCode) => {
      expectFailure(await logIn(account.world, { totpCode }), 400, 'VALIDATION_FAILED');
      const other = await createWorld(server);
      expectFailure(await logIn(other, { totpCode }), 400, 'VALIDATION_FAILED');
    },
  );

  test('does not concern API keys', async () => {
    const world = await createWorld(server);
    const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
    const { apiKey } = expectSuccess(created, 201, apiKeyAnswer).key;
    const { secret } = await begin(world);
    await postTotp(world, 'confirm', { totpCode: totpCodeOf(secret, now()) });
    const client = new ApiClient(server.baseUrl, { bearer: apiKey });
    expect((await client.get('/api/v1/auth/me')).status).toBe(200);
    expect((await client.post('/api/v1/apps/create', { name: 'By key' })).status).toBe(201);
  });

  test('is the same over GraphQL', async () => {
    const { world, secret } = account;
    const visitor = new ApiClient(server.baseUrl);
    const query =
      'mutation ($input: LoginInput!) { login(input: $input) { developer { account { security { totpEnabled } } } } }';
    const ask = (more: object) =>
      visitor.post('/graphql', { query, variables: { input: { ...world.login, ...more } } });
    expect((await ask({})).body).toMatchObject({ errors: [{ extensions: { code: 'TOTP_REQUIRED' } }] });
    const totpCode = wrongTotpCode(secret, now());
    expect((await ask({ totpCode })).body).toMatchObject({
      errors: [{ extensions: { code: 'TOTP_INVALID' } }],
    });
    const answer = await ask({ totpCode: freshCode(secret) });
    expect(answer.body).toEqual({
      data: { login: { developer: { account: { security: { totpEnabled: true } } } } },
    });
    expect(cookieOf(answer)).toBeTruthy();
  });
});

describe('an account without TOTP', () => {
  test('ignores codes at a login', async () => {
    const world = await createWorld(server);
    expect((await logIn(world, { totpCode: '123456', recoveryCode: 'ABCD' })).status).toBe(200);
  });
});

describe('guessing codes', () => {
  let account: Protected;
  beforeEach(async () => {
    account = await protect();
  });
  const guess = () =>
    logIn(account.world, { totpCode: wrongTotpCode(account.secret, now()) }).then(({ status }) => status);

  test('ends after five wrong ones, for the right one too, until fifteen minutes are over', async () => {
    const { world, secret } = account;
    for (let turn = 0; turn < 5; turn++) expect(await guess()).toBe(401);
    const refused = await logIn(world, { totpCode: freshCode(secret) });
    const { error } = expectFailure(refused, 429, 'RATE_LIMITED');
    expect(error).toMatch(/recovery code/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    server.clock.step(15 * 60);
    expect((await logIn(world, { totpCode: freshCode(secret) })).status).toBe(200);
    expect(await countOf(world, 'totp_failed')).toBe(5);
  });

  test('in parallel has no more attempts', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, guess));
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  test('starts anew after a right code', async () => {
    const { world, secret } = account;
    for (let turn = 0; turn < 4; turn++) expect(await guess()).toBe(401);
    expect((await logIn(world, { totpCode: freshCode(secret) })).status).toBe(200);
    for (let turn = 0; turn < 4; turn++) expect(await guess()).toBe(401);
    expect((await logIn(world, { totpCode: freshCode(secret) })).status).toBe(200);
  });

  test('without the password takes no attempt, and does not lock the owner out', async () => {
    const { world, secret } = account;
    const totpCode = wrongTotpCode(secret, now());
    for (let turn = 0; turn < 10; turn++) {
      const answer = await logIn(world, { password: 'wrong', totpCode });
      expectFailure(answer, 401, 'INVALID_CREDENTIALS');
    }
    expect((await logIn(world, { totpCode: freshCode(secret) })).status).toBe(200);
  });

  test('shares its attempts between a login, a confirmation, and turning TOTP off', async () => {
    const { world, secret } = account;
    const totpCode = wrongTotpCode(secret, now());
    const { password } = world.developer;
    const confirm = () => world.client.post('/api/v1/auth/confirm', { password, totpCode });
    for (let turn = 0; turn < 2; turn++) {
      expectFailure(await confirm(), 401, 'TOTP_INVALID');
      expectFailure(await postTotp(world, 'disable', { password, totpCode }), 401, 'TOTP_INVALID');
    }
    expect(await guess()).toBe(401);
    expectFailure(await confirm(), 429, 'RATE_LIMITED');
  });

  test('leaves recovery codes good', async () => {
    const { world, recoveryCodes } = account;
    for (let turn = 0; turn < 6; turn++) await guess();
    expect((await logIn(world, { recoveryCode: recoveryCodes[0] })).status).toBe(200);
  });
});

describe('a recovery code', () => {
  let account: Protected;
  beforeEach(async () => {
    account = await protect();
  });

  test('replaces a TOTP code once, in any spelling, and is logged with how many are left', async () => {
    const { world, recoveryCodes } = account;
    const [one = '', two = ''] = recoveryCodes;
    expect((await logIn(world, { recoveryCode: one })).status).toBe(200);
    expectFailure(await logIn(world, { recoveryCode: one }), 401, 'TOTP_INVALID');
    const typed = two.toLowerCase().replaceAll('-', ' ');
    expect((await logIn(world, { recoveryCode: typed })).status).toBe(200);
    expect((await security(world)).recoveryCodesLeft).toBe(8);
    const used = (await eventsOf(world)).filter(({ event }) => event === 'recovery_code_used');
    expect(used.map(({ metadata }) => metadata)).toEqual([{ left: 9 }, { left: 8 }]);
    expect(await countOf(world, 'totp_failed')).toBe(1);
  });

  test('of parallel logins lets one in', async () => {
    const { world, recoveryCodes } = account;
    const [recoveryCode] = recoveryCodes;
    const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(world, { recoveryCode })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('of another account is wrong', async () => {
    const [recoveryCode] = (await protect()).recoveryCodes;
    expectFailure(await logIn(account.world, { recoveryCode }), 401, 'TOTP_INVALID');
  });

  test('is no longer good after all are renewed with the password and a code', async () => {
    const { world, secret, recoveryCodes } = account;
    const { password } = world.developer;
    const renew = (body: object) => postTotp(world, 'recovery-codes', body);
    expectFailure(await renew({ password }), 401, 'TOTP_REQUIRED');
    const wrong = { password: 'wrong', totpCode: freshCode(secret) };
    expectFailure(await renew(wrong), 401, 'INVALID_CREDENTIALS');
    const answer = await renew({ password, totpCode: freshCode(secret) });
    const renewed = expectSuccess(answer, 200, codesAnswer).recoveryCodes;
    expect(new Set([...renewed, ...recoveryCodes]).size).toBe(20);
    expectFailure(await logIn(world, { recoveryCode: recoveryCodes[0] }), 401, 'TOTP_INVALID');
    expect((await logIn(world, { recoveryCode: renewed[0] })).status).toBe(200);
    expect(await countOf(world, 'recovery_codes_renewed')).toBe(1);
  });
});

describe('turning TOTP off', () => {
  test('needs the password and a code; then a login needs neither code', async () => {
    const { world, secret, recoveryCodes } = await protect();
    const { password } = world.developer;
    expectFailure(await postTotp(world, 'disable', { password }), 401, 'TOTP_REQUIRED');
    const wrongPassword = { password: 'wrong', totpCode: freshCode(secret) };
    expectFailure(await postTotp(world, 'disable', wrongPassword), 401, 'INVALID_CREDENTIALS');
    const wrongCode = { password, totpCode: wrongTotpCode(secret, now()) };
    expectFailure(await postTotp(world, 'disable', wrongCode), 401, 'TOTP_INVALID');
    expectFailure(await logIn(world), 401, 'TOTP_REQUIRED');
    const right = { password, totpCode: freshCode(secret) };
    expectSuccess(await postTotp(world, 'disable', right), 200, doneAnswer);
    expect((await logIn(world)).status).toBe(200);
    expect(await security(world)).toMatchObject({ totpEnabled: false, recoveryCodesLeft: 0 });
    expect((await eventsOf(world)).at(-2)).toMatchObject({
      event: 'totp_disabled',
      metadata: { byOperator: false },
    });
    // The old codes are gone for good.
    const again = await begin(world);
    await postTotp(world, 'confirm', { totpCode: totpCodeOf(again.secret, now()) });
    expectFailure(await logIn(world, { recoveryCode: recoveryCodes[0] }), 401, 'TOTP_INVALID');
    expectFailure(await logIn(world, { totpCode: freshCode(secret) }), 401, 'TOTP_INVALID');
  });

  test('is possible with a recovery code', async () => {
    const { world, recoveryCodes } = await protect();
    const body = { password: world.developer.password, recoveryCode: recoveryCodes[0] };
    expectSuccess(await postTotp(world, 'disable', body), 200, doneAnswer);
    expect((await logIn(world)).status).toBe(200);
  });
});

test('secrets and codes are stored encrypted or hashed, and are in no export and no log', async () => {
  const own = await startTestServer({ env: noLimits });
  try {
    const world = await createWorld(own);
    const { secret } = await begin(world);
    const totpCode = totpCodeOf(secret, own.clock.now());
    const answer = await postTotp(world, 'confirm', { totpCode });
    const { recoveryCodes } = expectSuccess(answer, 200, codesAnswer);
    const visitor = new ApiClient(own.baseUrl);
    const [recoveryCode = ''] = recoveryCodes;
    await visitor.post('/api/v1/auth/login', { ...world.login, recoveryCode });
    await visitor.post('/api/v1/auth/login', { ...world.login, recoveryCode });
    const { password } = world.developer;
    const confirmation = { password, recoveryCode: recoveryCodes[1] };
    expect((await world.client.post('/api/v1/auth/confirm', confirmation)).status).toBe(200);
    const exported = await world.client.get('/api/v1/account/export');
    expect(exported.status).toBe(200);
    const texts = {
      database: JSON.stringify(await databaseState(own)),
      export: JSON.stringify(exported.body),
      log: own.logLines.join('\n'),
    };
    const raw = Buffer.from(new Uint8Array(bytesOfBase32(secret)));
    for (const [place, text] of Object.entries(texts)) {
      expect(text.length, place).toBeGreaterThan(100);
      for (const hidden of [
        secret,
        raw.toString('hex'),
        raw.toString('base64'),
        ...recoveryCodes,
        ...recoveryCodes.map((code) => code.replaceAll('-', '')),
      ]) {
        expect(text, place).not.toContain(hidden);
      }
    }
  } finally {
    await own.close();
  }
});

/** RFC 4648. */
function bytesOfBase32(text: string): number[] {
  const bits = [...text].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const all = bits.map((value) => value.toString(2).padStart(5, '0')).join('');
  return (all.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
}
