import { describe, expect, it } from 'vitest';
import * as constants from '../../src/protocol/constants.ts';
import {
  clientAuthResult,
  innerLoginRequest,
  innerRegisterRequest,
  innerUpgradeRequest,
  plaintextError,
  sessionInitRequest,
  validateResult,
} from '../../src/protocol/messages.ts';

const nonce = 'AAAAAAAAAAAAAAAAAAAAAA==';
const head = { nonce, timestamp: 1_760_000_000, v: 1 };
const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const register = { ...head, username: 'jo.Do_e-1', password: 'p'.repeat(8) };
const login = { ...head, username: 'joe', password: 'p' };
const upgrade = { ...head, username: 'joe', licenseKey: 'K' };

describe.each([
  ['register', innerRegisterRequest, register],
  ['login', innerLoginRequest, login],
  ['upgrade', innerUpgradeRequest, upgrade],
])('the inner request of %s', (_name, schema, good) => {
  it('is accepted with and without a device, and ignores unknown members', () => {
    expect(schema.parse(good)).toEqual(good);
    expect(schema.parse({ ...good, hwid: 'd' })).toEqual({ ...good, hwid: 'd' });
    expect(schema.parse({ ...good, later: 1 })).toEqual(good);
  });
  it.each(Object.keys(good))('is refused without %s', (name) => {
    const { [name]: _left, ...rest }: Record<string, unknown> = good;
    expect(schema.safeParse(rest).success).toBe(false);
  });
  it.each(['username', 'hwid'])('is refused with NUL or a lone surrogate in %s', (name) => {
    for (const text of ['abc\0', 'abc\ud800']) {
      expect(schema.safeParse({ ...good, [name]: text }).success).toBe(false);
    }
  });
});

describe('register', () => {
  const takes = (change: object) => innerRegisterRequest.safeParse({ ...register, ...change }).success;
  it.each([
    ['username', ['abc', 'a'.repeat(64), 'A.b_c-9'], ['ab', 'a'.repeat(65), 'a b', 'jörg', 'a@b', 'abc\n']],
    [
      'password',
      ['12345678', 'x'.repeat(128), 'päßwörter'],
      ['1234567', 'x'.repeat(129), '12345678\0', 12345678],
    ],
    ['email', ['a@example.com'], ['', 'a', 'a@', `${'a'.repeat(250)}@example.com`, 'a@b.c\0', null]],
    ['licenseKey', ['K', 'K'.repeat(256)], ['', 'K'.repeat(257), null]],
    ['hwid', ['h', 'h'.repeat(256)], ['', 'h'.repeat(257), null]],
  ])('takes and refuses a %s as the interface says', (name, good, bad) => {
    for (const value of good) expect(takes({ [name]: value }), String(value)).toBe(true);
    for (const value of bad) expect(takes({ [name]: value }), String(value)).toBe(false);
  });
});

it('login and upgrade accept any name of up to 64 characters, so an impossible one is unknown and not malformed', () => {
  for (const username of ['x', 'jörg', 'a b', 'x'.repeat(64)]) {
    expect(innerLoginRequest.safeParse({ ...login, username }).success).toBe(true);
    expect(innerUpgradeRequest.safeParse({ ...upgrade, username }).success).toBe(true);
  }
  expect(innerLoginRequest.safeParse({ ...login, username: 'x'.repeat(65) }).success).toBe(false);
  expect(innerLoginRequest.safeParse({ ...login, password: 'x'.repeat(1025) }).success).toBe(false);
});

describe('the handshake', () => {
  const good = { appId: id, clientNonceB64: `${'A'.repeat(43)}=`, clientVersion: '1.0.0' };
  it('accepts a UUID in lower case, 32 bytes and a version', () => {
    expect(sessionInitRequest.safeParse(good).success).toBe(true);
    expect(sessionInitRequest.safeParse({ ...good, clientVersion: 'v'.repeat(64) }).success).toBe(true);
  });
  it.each([
    ['appId', [id.toUpperCase(), `${id}\n`, id.replaceAll('-', ''), '', null]],
    ['clientNonceB64', ['', 'AAAA', 'A'.repeat(43), `${'A'.repeat(42)}B=`, `${'A'.repeat(44)}`, 1]],
    ['clientVersion', ['', 'v'.repeat(65), '1\0', 1]],
  ])('refuses another %s', (name, values) => {
    for (const value of values) {
      expect(sessionInitRequest.safeParse({ ...good, [name]: value }).success, String(value)).toBe(false);
    }
  });
});

describe('the result of register, login and upgrade', () => {
  const bound = { message: 'Welcome', sessionId: 's', timestamp: 1, v: 1 };
  const success = {
    ...bound,
    success: true,
    code: 'OK',
    sessionToken: 'token',
    expiresAt: '2026-01-01T00:00:00.000Z',
    user: { id, username: 'joe', email: null, applicationId: id },
    license: { id, status: 'active', expiresAt: null, subscriptionTier: 0 },
    session: { ip: '203.0.113.7', hwid: null },
  };
  it('is a success with or without a license and the echo, or a failure with a code', () => {
    expect(clientAuthResult.parse(success)).toEqual(success);
    expect(clientAuthResult.safeParse({ ...success, license: null, nonce }).success).toBe(true);
    expect(clientAuthResult.safeParse({ ...bound, success: false, code: 'USERNAME_TAKEN' }).success).toBe(
      true,
    );
  });
  it('is never a success with another code, nor a failure with OK, nor without a token', () => {
    const { sessionToken: _token, ...withoutToken } = success;
    for (const bad of [
      { ...success, code: 'BANNED' },
      { ...bound, success: false, code: 'OK' },
      { ...bound, success: true, code: 'OK' },
      withoutToken,
      { ...success, expiresAt: null },
      { ...success, expiresAt: '2026-01-01' },
      { ...success, v: 2 },
    ]) {
      expect(clientAuthResult.safeParse(bad).success).toBe(false);
    }
  });
});

it('a failed validation has neither status nor expiry', () => {
  const failure = { success: false, code: 'BANNED', message: '', sessionId: 's', timestamp: 1, v: 1 };
  expect(validateResult.safeParse({ ...failure, status: null, expiresAt: null }).success).toBe(true);
  expect(validateResult.safeParse({ ...failure, status: 'active', expiresAt: null }).success).toBe(false);
  expect(validateResult.safeParse(failure).success).toBe(false);
});

it('a plaintext failure has a code in capitals', () => {
  const good = { success: false, error: 'No', code: 'APP_DISABLED' };
  expect(plaintextError.safeParse(good).success).toBe(true);
  for (const code of ['', 'ok', 'A'.repeat(65), 'A B']) {
    expect(plaintextError.safeParse({ ...good, code }).success).toBe(false);
  }
  expect(plaintextError.safeParse({ ...good, success: true }).success).toBe(false);
});

it('a nonce is stored for as long as its request can be accepted', () => {
  const { clockSkewSeconds, replayWindowSeconds } = constants;
  const acceptedAt = (timestamp: number, nowMs: number) =>
    Math.abs(Math.floor(nowMs / 1000) - timestamp) <= clockSkewSeconds;
  const firstUse = (1000 - clockSkewSeconds) * 1000;
  expect(acceptedAt(1000, firstUse)).toBe(true);
  expect(acceptedAt(1000, firstUse + replayWindowSeconds * 1000 - 1)).toBe(true);
  expect(acceptedAt(1000, firstUse + replayWindowSeconds * 1000)).toBe(false);
});
