import { encodeBase64Url } from '../../../protocol/base64.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { deviceHash } from '../../../protocol/v2/device-hash.ts';
import type { LeaseClaims } from '../../../protocol/v2/lease.ts';
import { leaseHeader } from '../../../protocol/v2/signed-token.ts';
import { appId, now, seed } from '../exchange.ts';

export const goodClaims: LeaseClaims = {
  aud: appId,
  sub: '01890a5d-c2d3-7a4b-8e5f-60718293a4b5',
  jti: '01890a5d-d3e4-7b5c-9f60-718293a4b5c6',
  iat: now,
  nbf: now,
  exp: now + 7 * 86_400,
  lex: 1_791_536_000,
  dev: deviceHash(appId, 'device-1'),
  tier: 2,
  ent: {},
  rev: 3,
  seq: 5,
};

/** What the signature of a token covers. */
export const signedPart = (header: string, payload: string | Uint8Array): string => {
  const bytes = typeof payload === 'string' ? utf8(payload) : payload;
  return `${encodeBase64Url(utf8(header))}.${encodeBase64Url(bytes)}`;
};

/** A token in the compact form of RFC 7515 §3.1. */
export function tokenOf(header: string, payload: string | Uint8Array, signingSeed = seed): string {
  const signed = signedPart(header, payload);
  return `${signed}.${encodeBase64Url(signBytes(utf8(signed), signingSeed))}`;
}

export const leaseOf = (claims: object): string => tokenOf(leaseHeader, JSON.stringify(claims));

/** The lease that the calls' good answers contain. */
export const lease = leaseOf(goodClaims);
