import { sha256 } from '@noble/hashes/sha2.js';
import { encodeBase64Url } from '../../../protocol/base64.ts';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { appId, now, seed } from '../exchange.ts';
import { fixedBytes } from '../material.ts';

export const leaseHeader = '{"alg":"EdDSA","typ":"latchkey-lease+jwt"}';

/** `dev` of a lease (SPEC §14.2). */
export const deviceOf = (hwid: string, of = appId): string =>
  encodeBase64Url(sha256(concatBytes(utf8('latchkey-device\0'), utf8(of), utf8(hwid))));

export const goodClaims = {
  aud: appId,
  sub: '01890a5d-c2d3-7a4b-8e5f-60718293a4b5',
  jti: '01890a5d-d3e4-7b5c-9f60-718293a4b5c6',
  iat: now,
  nbf: now,
  exp: now + 7 * 86_400,
  lex: 1_791_536_000,
  dev: deviceOf('device-1'),
  tier: 2,
  ent: [],
  rev: 3,
  seq: 5,
};

/** A token in the compact form of RFC 7515 §3.1. */
export function tokenOf(header: string, payload: string | Uint8Array, signingSeed = seed): string {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload;
  const signed = `${encodeBase64Url(utf8(header))}.${encodeBase64Url(bytes)}`;
  return `${signed}.${encodeBase64Url(signBytes(utf8(signed), signingSeed))}`;
}

export const leaseOf = (claims: object): string => tokenOf(leaseHeader, JSON.stringify(claims));

/** The lease that the calls' good answers contain. */
export const lease = leaseOf(goodClaims);

export const deviceNonce = encodeBase64Url(fixedBytes('device request nonce', 16));
