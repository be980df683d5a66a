import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { encodeBase64 } from '../../../protocol/base64.ts';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { answerTag, keyTag } from '../../../protocol/v2/constants.ts';
import { type ServiceKey, signedStatement, statementBody } from '../../../protocol/v2/key-statement.ts';
import { uuidBytes } from '../../../protocol/v2/uuid-bytes.ts';
import { appId, now, seed } from '../exchange.ts';
import { fixedBytes, flipBit } from '../material.ts';
import { addGroupOrder, smallOrderKeys } from '../signature.ts';
import { newerKey, serviceKey, signStatement, statementOf } from './service.ts';

export interface StatementVector {
  readonly why: string;
  readonly statementHex: string;
  /** The check that fails (SPEC §3). */
  readonly failed: 'length' | 'signature' | 'content' | 'age';
  readonly publicKeyHex?: string;
}

/** Key statements, read by a client that holds the one of `service` or none (SPEC §3). */
export function statementVectors() {
  return { accept: accepted(), reject: [...forged(), ...malformed(), ...older()] };
}

function accepted() {
  const is = (why: string, key: ServiceKey, held: ServiceKey | null) => ({
    why,
    heldNotBefore: held === null ? null : held.notBefore,
    notBefore: key.notBefore,
    notAfter: key.notAfter,
    keyId: key.keyId,
    publicKeyHex: bytesToHex(key.publicKey),
    signedHex: bytesToHex(signedStatement(appId, statementBody(key))),
    statementHex: bytesToHex(statementOf(key)),
    statementB64: encodeBase64(statementOf(key)),
  });
  return [
    is('the first statement', serviceKey, null),
    is('the same statement again', serviceKey, serviceKey),
    is('a newer statement', newerKey, serviceKey),
    is(
      'a period that is over by the own clock',
      { ...serviceKey, notBefore: now - 9_000_000, notAfter: now - 8_000_000 },
      null,
    ),
    is(
      'a period that begins later by the own clock',
      { ...serviceKey, notBefore: now + 8_000_000, notAfter: now + 9_000_000 },
      null,
    ),
    is('key id 0', { ...serviceKey, keyId: 0 }, null),
    is('key id 255', { ...serviceKey, keyId: 255 }, null),
    is('the latest time', { ...serviceKey, notAfter: Number.MAX_SAFE_INTEGER }, null),
  ];
}

const body = statementBody(serviceKey);
const good = statementOf(serviceKey);
const is = (
  failed: StatementVector['failed'],
  why: string,
  statement: Uint8Array,
  publicKeyHex?: string,
): StatementVector => ({
  why,
  statementHex: bytesToHex(statement),
  failed,
  ...(publicKeyHex === undefined ? {} : { publicKeyHex }),
});

function forged(): StatementVector[] {
  const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
  const signing = (why: string, ...texts: Uint8Array[]) =>
    is('signature', why, concatBytes(signBytes(concatBytes(...texts), seed), body));
  const s = good.subarray(32, 64);
  const [identity] = smallOrderKeys;
  return [
    is('length', 'no bytes', new Uint8Array()),
    is('length', '120 bytes', good.subarray(0, 120)),
    is('length', '122 bytes', concatBytes(good, Uint8Array.of(0))),
    is('length', 'the body alone', body),
    is('length', 'in base64', utf8(encodeBase64(good))),
    is('signature', 'for another application', signStatement(body, { signedAppId: otherAppId })),
    is(
      'signature',
      'signed with another key',
      signStatement(body, { signingSeed: fixedBytes('other seed', 32) }),
    ),
    signing('signed with the tag of answers', answerTag, uuidBytes(appId), body),
    signing('signed without the tag', uuidBytes(appId), body),
    signing('signed without the application', keyTag, body),
    signing('signed with the text of the application id', keyTag, utf8(appId), body),
    is('signature', 'the key is replaced', concatBytes(good.subarray(0, 64), statementBody(newerKey))),
    is('signature', 'a bit of the signature is flipped', flipBit(good, 3)),
    is('signature', 'a bit of notBefore is flipped', flipBit(good, 71 * 8)),
    is('signature', 'a bit of notAfter is flipped', flipBit(good, 79 * 8)),
    is('signature', 'a bit of the key id is flipped', flipBit(good, 80 * 8)),
    is('signature', 'a bit of the key is flipped', flipBit(good, 90 * 8)),
    is('signature', 'S plus the group order', concatBytes(good.subarray(0, 32), addGroupOrder(s), body)),
    is(
      'signature',
      'an application key of small order, under which R the identity and S zero fit',
      concatBytes(Uint8Array.of(1), new Uint8Array(63), body),
      identity?.hex ?? '',
    ),
  ];
}

/** Correctly signed, but not as SPEC §3 prescribes. Offsets count from the beginning of the statement. */
function malformed(): StatementVector[] {
  const suite = [
    [81, 'the first byte of the KEM'],
    [82, 'the KEM'],
    [115, 'the first byte of the length of the suites'],
    [116, 'the length of the suites'],
    [117, 'the first byte of the KDF'],
    [118, 'the KDF'],
    [119, 'the first byte of the AEAD'],
    [120, 'the AEAD'],
  ] as const;
  const withPeriod = (notBefore: string, notAfter: string) =>
    signStatement(concatBytes(hexToBytes(notBefore), hexToBytes(notAfter), body.subarray(16)));
  return [
    ...suite.map(([offset, what]) =>
      is(
        'content',
        `signed: another byte ${offset}, ${what}`,
        signStatement(flipBit(body, (offset - 64) * 8 + 1)),
      ),
    ),
    is(
      'content',
      'signed: a period that ends as it begins',
      withPeriod('0000000068e77800', '0000000068e77800'),
    ),
    is(
      'content',
      'signed: a period that ends before it begins',
      withPeriod('0000000068e77801', '0000000068e77800'),
    ),
    is('content', 'signed: notAfter is 2^53', withPeriod('0000000068e77800', '0020000000000000')),
    is('content', 'signed: notAfter is 2^64 - 1', withPeriod('0000000068e77800', 'ffffffffffffffff')),
  ];
}

function older(): StatementVector[] {
  const before = (seconds: number): ServiceKey => ({
    ...newerKey,
    notBefore: serviceKey.notBefore - seconds,
  });
  return [
    is('age', 'a second older than the statement of service', statementOf(before(1))),
    is('age', 'a day older, with the same end', statementOf(before(86_400))),
  ];
}
