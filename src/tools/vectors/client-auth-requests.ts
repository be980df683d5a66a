import { type ClientAuthVerb, goodClientRequest, headOf } from './client-auth-exchange.ts';
import { now, sealRequest } from './exchange.ts';
import type { RequestVector } from './requests.ts';

const malformed = 'sealed VALIDATION_FAILED';

/** Generates the cases of one verb, each sealed under its own IV. */
function casesOf(verb: ClientAuthVerb) {
  const good = goodClientRequest(verb);
  const inner = (why: string, members: unknown, expect: string): RequestVector => ({
    why,
    request: sealRequest(`${verb} ${why}`, JSON.stringify(members)),
    expect,
  });
  return {
    inner,
    /** The good request with some members changed. */
    changed: (why: string, change: object, expect: string) => inner(why, { ...good, ...change }, expect),
    /** The good request without a member. */
    without: (name: string, expect: string) => {
      const rest = Object.entries(good).filter(([member]) => member !== name);
      return inner(`no ${name}`, Object.fromEntries(rest), expect);
    },
  };
}

/** Cases about the members that the requests of all verbs have. */
function common(verb: ClientAuthVerb): RequestVector[] {
  const { changed, without } = casesOf(verb);
  return [
    changed('good', {}, 'accept'),
    changed('an unknown inner member', { later: { is: 'ignored' } }, 'accept'),
    without('echoNonce', 'accept'),
    without('hwid', 'accept'),
    changed('a hwid of 256 characters', { hwid: 'h'.repeat(256) }, 'accept'),
    changed('a hwid of 257 characters', { hwid: 'h'.repeat(257) }, malformed),
    changed('an empty hwid', { hwid: '' }, malformed),
    changed('hwid null', { hwid: null }, malformed),
    without('nonce', malformed),
    without('username', malformed),
    changed('username null', { username: null }, malformed),
    changed('an empty username', { username: '' }, malformed),
    changed('a username of 64 characters', { username: 'u'.repeat(64) }, 'accept'),
    changed('a username of 65 characters', { username: 'u'.repeat(65) }, malformed),
    changed('a username with NUL', { username: 'ada\0' }, malformed),
    changed('a username with a lone surrogate', { username: 'ada\ud800' }, malformed),
    changed('61 seconds behind', { timestamp: now - 61 }, 'CLOCK_SKEW'),
    { ...changed('a nonce that was used', {}, 'REPLAY'), nonceUsed: true },
    { why: 'a plaintext body', request: goodClientRequest(verb), expect: 'CRYPTO_REQUIRED' },
  ];
}

function licenseKeys(verb: 'register' | 'upgrade'): RequestVector[] {
  const { changed } = casesOf(verb);
  return [
    changed('a license key of 256 characters', { licenseKey: 'K'.repeat(256) }, 'accept'),
    changed('a license key of 257 characters', { licenseKey: 'K'.repeat(257) }, malformed),
    changed('an empty license key', { licenseKey: '' }, malformed),
    changed('license key null', { licenseKey: null }, malformed),
  ];
}

export function registerRequests(): RequestVector[] {
  const { inner, changed, without } = casesOf('register');
  const { username, password } = goodClientRequest('register');
  // `localPart@` and a domain of 12 characters.
  const emailOf = (length: number) => `${'a'.repeat(length - 13)}@${'b'.repeat(8)}.com`;
  return [
    ...common('register'),
    ...licenseKeys('register'),
    inner('only what every registration has', { username, password, ...headOf('register') }, 'accept'),
    without('licenseKey', 'accept'),
    without('email', 'accept'),
    without('password', malformed),
    changed('a username of 3 characters', { username: 'a_1' }, 'accept'),
    changed('a username of 2 characters', { username: 'ab' }, malformed),
    changed('a username with a space', { username: 'ada lovelace' }, malformed),
    changed('a username with a letter that is not ASCII', { username: 'j\u00f6rg' }, malformed),
    changed('a username with a line break at its end', { username: 'ada\n' }, malformed),
    changed('a password of 8 characters', { password: '12345678' }, 'accept'),
    changed('a password of 7 characters', { password: '1234567' }, malformed),
    changed('a password of 128 characters', { password: 'p'.repeat(128) }, 'accept'),
    changed('a password of 129 characters', { password: 'p'.repeat(129) }, malformed),
    changed('a password of 128 UTF-16 units', { password: '\u{1f511}'.repeat(64) }, 'accept'),
    changed('a password of 130 UTF-16 units', { password: '\u{1f511}'.repeat(65) }, malformed),
    changed('the password is a number', { password: 12345678 }, malformed),
    changed('a password with NUL', { password: '12345678\0' }, malformed),
    changed('an email without a domain', { email: 'ada' }, malformed),
    changed('an empty email', { email: '' }, malformed),
    changed('email null', { email: null }, malformed),
    changed('an email of 254 characters', { email: emailOf(254) }, 'accept'),
    changed('an email of 255 characters', { email: emailOf(255) }, malformed),
  ];
}

export function loginRequests(): RequestVector[] {
  const { changed, without } = casesOf('login');
  return [
    ...common('login'),
    changed('a username that no account can have', { username: 'j\u00f6rg x' }, 'accept'),
    without('password', malformed),
    changed('an empty password', { password: '' }, malformed),
    changed('a password of 1 character', { password: 'p' }, 'accept'),
    changed('a password of 1024 characters', { password: 'p'.repeat(1024) }, 'accept'),
    changed('a password of 1025 characters', { password: 'p'.repeat(1025) }, malformed),
    changed('the password is a number', { password: 12345678 }, malformed),
  ];
}

export function upgradeRequests(): RequestVector[] {
  const { changed, without } = casesOf('upgrade');
  return [
    ...common('upgrade'),
    ...licenseKeys('upgrade'),
    changed('a username that no account can have', { username: 'j\u00f6rg x' }, 'accept'),
    changed('a password, which is ignored like any unknown member', { password: 1 }, 'accept'),
    without('licenseKey', malformed),
  ];
}
