import { createHmac } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { readCookieToken, signCookieToken } from '../../src/crypto/cookie-token.ts';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { type DeveloperId, newId } from '../../src/lib/ids.ts';

const keyring = createKeyring(new Uint8Array(32).fill(1));
const noon = Date.parse('2026-03-01T12:00:00Z');
const at = (seconds: number) => ({ now: () => noon + seconds * 1000 });
const claims = { developerId: newId() as DeveloperId, sessionVersion: 3, sessionId: newId() };
const week = 604_800;

const part = (token: string, index: number): unknown =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());

/** A token signed with the right key, with any payload. */
const signed = (payload: Record<string, unknown>, header: { alg: string; typ?: string } = { alg: 'EdDSA' }) =>
  new SignJWT(payload).setProtectedHeader(header).sign(keyring.cookie.privateKey);

const payload = {
  sub: claims.developerId,
  sessionVersion: 3,
  sid: claims.sessionId,
  aud: 'latchkey/dashboard',
  iat: noon / 1000,
  exp: noon / 1000 + week,
};

describe('a cookie token', () => {
  test('contains the signed claims', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    expect(await readCookieToken(keyring, at(5), token)).toEqual({
      ...claims,
      expiresAt: noon + week * 1000,
      tokenHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('has one hash, whatever the unused bits of its last character', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    const other = await signCookieToken(keyring, at(1), claims);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(token.at(-1) ?? '');
    const spelling = token.slice(0, -1) + alphabet[last ^ 1];
    const hashes = await Promise.all(
      [token, spelling, other].map(async (text) => (await readCookieToken(keyring, at(1), text))?.tokenHash),
    );
    expect(hashes[0]).toBeDefined();
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test('is an EdDSA JWT with developer and times, and no secret', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    expect(part(token, 0)).toEqual({ alg: 'EdDSA', typ: 'JWT' });
    expect(part(token, 1)).toEqual(payload);
  });

  test('is valid for exactly seven days', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    expect(await readCookieToken(keyring, at(week - 1), token)).toMatchObject(claims);
    expect(await readCookieToken(keyring, at(week), token)).toBeNull();
    expect(await readCookieToken(keyring, at(week * 52), token)).toBeNull();
  });

  test('is refused under another key', async () => {
    const other = createKeyring(new Uint8Array(32).fill(2));
    expect(await readCookieToken(other, at(0), await signCookieToken(keyring, at(0), claims))).toBeNull();
  });

  test('is refused with any character changed', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    // Except the last one: four of its bits are unused.
    for (let index = 0; index < token.length - 1; index++) {
      const replaced = token[index] === 'A' ? 'B' : 'A';
      const forged = token.slice(0, index) + replaced + token.slice(index + 1);
      expect(await readCookieToken(keyring, at(0), forged), `character ${index}`).toBeNull();
    }
  });

  test('is refused without a signature, or with the public key as an HMAC secret', async () => {
    const unsecured = new UnsecuredJWT(payload).encode();
    const publicKey = keyring.cookie.publicKey.export({ format: 'pem', type: 'spki' });
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
    const confused = `${content}.${createHmac('sha256', publicKey).update(content).digest('base64url')}`;
    for (const token of [unsecured, confused]) {
      expect(await readCookieToken(keyring, at(0), token)).toBeNull();
    }
  });

  test('of the version before sessions names none', async () => {
    const token = await signed({ ...payload, sid: undefined });
    expect(await readCookieToken(keyring, at(0), token)).toMatchObject({ ...claims, sessionId: null });
    const same = await signCookieToken(keyring, at(0), { ...claims, sessionId: null });
    expect(part(same, 1)).not.toHaveProperty('sid');
  });

  test('is refused if a claim is missing or has the wrong type', async () => {
    expect(await readCookieToken(keyring, at(0), await signed(payload))).toMatchObject(claims);
    const changes: Record<string, unknown>[] = [
      { sub: undefined },
      { sub: 'Ada' },
      { exp: undefined },
      { aud: undefined },
      { aud: 'another service' },
      { sessionVersion: undefined },
      { sessionVersion: -1 },
      { sessionVersion: 1.5 },
      { sessionVersion: '3' },
      { sid: 'the first' },
      { sid: null },
    ];
    for (const change of changes) {
      const token = await signed({ ...payload, ...change });
      expect(await readCookieToken(keyring, at(0), token), JSON.stringify(change)).toBeNull();
    }
  });

  test('is refused if it is malformed', async () => {
    for (const token of ['', '.', '..', 'a.b.c', 'null', '\0', 'x'.repeat(10_000)]) {
      expect(await readCookieToken(keyring, at(0), token)).toBeNull();
    }
  });
});

describe('a cookie token of a previous secret', () => {
  const current = new Uint8Array(32).fill(2);
  const rotated = (replacedAt: number | null) =>
    createKeyring(current, [{ secret: new Uint8Array(32).fill(1), replacedAt }]);

  test('is valid until it expires', async () => {
    const token = await signCookieToken(keyring, at(0), claims);
    for (const replacedAt of [null, noon, noon + 60_000]) {
      expect(await readCookieToken(rotated(replacedAt), at(week - 1), token)).toMatchObject(claims);
      expect(await readCookieToken(rotated(replacedAt), at(week), token)).toBeNull();
    }
    expect(await readCookieToken(createKeyring(current), at(1), token)).toBeNull();
  });

  test('is refused after all possible tokens have expired, because it must be forged', async () => {
    const forged = await signCookieToken(keyring, at(2 * week), claims);
    expect(await readCookieToken(rotated(noon), at(week - 1), forged)).not.toBeNull();
    expect(await readCookieToken(rotated(noon), at(week), forged)).toBeNull();
    expect(await readCookieToken(rotated(noon), at(2 * week + 1), forged)).toBeNull();
    expect(await readCookieToken(rotated(null), at(2 * week + 1), forged)).toMatchObject(claims);
  });

  test('is never issued', async () => {
    const token = await signCookieToken(rotated(null), at(0), claims);
    expect(await readCookieToken(keyring, at(1), token)).toBeNull();
    expect(await readCookieToken(createKeyring(current), at(1), token)).toMatchObject(claims);
  });
});
