import { encodeBase64Url } from '../../../protocol/base64.ts';
import {
  type RevocationsClaims,
  type RevocationsStep,
  shortLicenseId,
} from '../../../protocol/v2/revocations.ts';
import { leaseHeader, revocationsHeader } from '../../../protocol/v2/signed-token.ts';
import { appId, now } from '../exchange.ts';
import { fixedBytes } from '../material.ts';
import { goodClaims, lease, tokenOf } from './lease.ts';

const shortId = shortLicenseId(goodClaims.sub);
const other = encodeBase64Url(fixedBytes('another license', 8));
const startOfDay = now - (now % 86_400);
const claims: RevocationsClaims = {
  aud: appId,
  iat: startOfDay,
  exp: startOfDay + 7 * 86_400,
  rev: 9,
  revoked: { [other]: 7, [shortId]: 4 },
};
const listOf = (change: object): string =>
  tokenOf(revocationsHeader, JSON.stringify({ ...claims, ...change }));

/** SPEC §14.5: revocation lists, and whether they revoke a lease of this license with the `rev` of the case. */
export function revocationVectors() {
  const time = now + 60;
  return {
    reader: { time, seenRev: null, licenseId: goodClaims.sub, shortLicenseId: shortId },
    accept: [
      revokes('revoked after the lease was issued', {}, 3, true),
      revokes('revoked before the lease was issued', {}, 4, false),
      revokes('another license', { revoked: { [other]: 7 } }, 3, false),
      revokes('no license', { revoked: {} }, 3, false),
      revokes(
        'the first 8 bytes of the id, which are no id in a list',
        { revoked: { [firstBytes()]: 7 } },
        3,
        false,
      ),
      revokes('an unknown claim', { later: 1 }, 3, true),
      { ...revokes('the list that was seen before', {}, 3, true), seenRev: 9 },
    ],
    reject: [
      refused('header', 'a lease', lease),
      refused('header', 'the header of a lease', tokenOf(leaseHeader, JSON.stringify(claims))),
      refused('encoding', 'two parts', listOf({}).split('.').slice(0, 2).join('.')),
      refused(
        'signature',
        'signed with another key',
        tokenOf(revocationsHeader, JSON.stringify(claims), fixedBytes('other seed', 32)),
      ),
      refused(
        'json',
        'signed: a name twice',
        tokenOf(revocationsHeader, JSON.stringify(claims).replace('"rev"', '"rev":9,"rev"')),
      ),
      refused(
        'json',
        'signed: a license twice',
        tokenOf(revocationsHeader, JSON.stringify(claims).replace(`"${shortId}"`, `"${other}"`)),
      ),
      refused('claims', 'signed: no list', listOf({ revoked: undefined })),
      refused(
        'claims',
        'signed: an id of 7 bytes',
        listOf({ revoked: { [encodeBase64Url(fixedBytes('id', 7))]: 1 } }),
      ),
      refused('claims', 'signed: a counter as a text', listOf({ revoked: { [other]: '7' } })),
      refused('aud', 'another application', listOf({ aud: '01890a5d-ac96-774b-bcce-b302099a8058' })),
      { ...refused('exp', 'at its end', listOf({})), time: claims.exp },
      { ...refused('rev', 'a lower rev than was seen', listOf({})), seenRev: 10 },
    ],
  };
}

/** The first 8 bytes of the license's id: mostly its time, so not what a list names it by. */
const firstBytes = () =>
  encodeBase64Url(Uint8Array.from(Buffer.from(goodClaims.sub.replaceAll('-', ''), 'hex').subarray(0, 8)));

const revokes = (why: string, change: object, leaseRev: number, isRevoked: boolean) => ({
  why,
  json: JSON.stringify({ ...claims, ...change }),
  list: listOf(change),
  leaseRev,
  isRevoked,
});

const refused = (failed: RevocationsStep, why: string, list: string) => ({ why, list, failed });
