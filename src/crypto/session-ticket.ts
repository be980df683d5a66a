import { hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parse as parseUuid, stringify as stringifyUuid } from 'uuid';
import { type Clock, unixSeconds } from '../lib/clock.ts';
import type { ApplicationId } from '../lib/ids.ts';
import { sessionLifetimeSeconds } from '../protocol/constants.ts';
import { openAesGcm, sealAesGcm } from './aead.ts';
import { decodeBase64Url, encodeBase64Url } from './base64.ts';

/** What a session is: everything that a later sealed request needs, so that the server stores nothing. */
export interface SessionTicket {
  readonly applicationId: ApplicationId;
  /** The version string the client named at session init. */
  readonly clientVersion: string;
  /** AES-256 key of the session. */
  readonly sessionKey: Uint8Array;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** An opened ticket, with a tag that tells one session from all others. */
export interface OpenedTicket extends SessionTicket {
  readonly sessionTag: string;
}

const formatVersion = 1;
const headerLength = 1 + 4;
const ivLength = 12;
const tagLength = 16;
const uuidLength = 16;
const keyLength = 32;
const hourSeconds = 3600;

/** Sessions whose tickets stay open, some 600 bytes each: a program that asks again is spared a decryption. */
const mostOpened = 20_000;

interface Opened {
  readonly ticket: OpenedTicket;
  /** What the replay guard remembered when it was opened. */
  readonly epoch: string;
}

export interface TicketSealerOptions {
  readonly ticketSecret: Uint8Array;
  /** Those of master secrets before: what was sealed under one opens until it expires. */
  readonly previousTicketSecrets?: readonly Uint8Array[];
  readonly clock: Clock;
  /**
   * What the replay guard's memory is good for: another value means that it has forgotten nonces, so that every
   * envelope made before must be refused with its session (design §5).
   */
  readonly replayEpoch: () => string;
}

/**
 * Seals and opens session tickets (SPEC, "Session"): `version ‖ expiry ‖ IV ‖ ciphertext ‖ tag` in base64url, the
 * first two as associated data. Each hour has a key of its own, so that random IVs under one key stay far below the
 * 2^32 of NIST SP 800-38D §8.3 however long the master secret lives.
 */
export function createTicketSealer({
  ticketSecret,
  previousTicketSecrets = [],
  clock,
  replayEpoch,
}: TicketSealerOptions) {
  const current = createHourlyKeys(ticketSecret);
  const all = [current, ...previousTicketSecrets.map(createHourlyKeys)];
  const opened = new LRUCache<string, Opened>({ max: mostOpened });

  const labelOf = (expiresAt: number) => `${replayEpoch()}/${Math.floor(expiresAt / hourSeconds)}`;

  const decrypt = (sessionId: string): OpenedTicket | null => {
    const bytes = decodeBase64Url(sessionId);
    if (bytes === null || bytes.length < headerLength + ivLength + uuidLength + keyLength + tagLength)
      return null;
    const expiresAt = bytes.readUInt32BE(1);
    const now = unixSeconds(clock);
    // The second bound keeps a made-up expiry from having us derive a key for every hour there is.
    if (bytes.readUInt8(0) !== formatVersion || expiresAt <= now || expiresAt > now + hourSeconds)
      return null;
    const header = bytes.subarray(0, headerLength);
    const iv = bytes.subarray(headerLength, headerLength + ivLength);
    const ciphertext = bytes.subarray(headerLength + ivLength, -tagLength);
    const envelope = { iv, ciphertext, tag: bytes.subarray(-tagLength) };
    const label = labelOf(expiresAt);
    let plaintext: Uint8Array | null = null;
    for (const keys of all) plaintext ??= openAesGcm(keys(label), envelope, header);
    if (plaintext === null) return null;
    return {
      applicationId: stringifyUuid(plaintext.subarray(0, uuidLength)) as ApplicationId,
      sessionKey: plaintext.subarray(uuidLength, uuidLength + keyLength),
      clientVersion: Buffer.from(plaintext.subarray(uuidLength + keyLength)).toString('utf8'),
      expiresAt,
      sessionTag: encodeBase64Url(iv),
    };
  };

  return {
    /** The `sessionId` of a new session. */
    seal(session: Omit<SessionTicket, 'expiresAt'>): string {
      const expiresAt = unixSeconds(clock) + sessionLifetimeSeconds;
      const header = Buffer.alloc(headerLength);
      header.writeUInt8(formatVersion, 0);
      header.writeUInt32BE(expiresAt, 1);
      const plaintext = Buffer.concat([
        parseUuid(session.applicationId),
        session.sessionKey,
        Buffer.from(session.clientVersion, 'utf8'),
      ]);
      const { iv, ciphertext, tag } = sealAesGcm(current(labelOf(expiresAt)), plaintext, header);
      return encodeBase64Url(Buffer.concat([header, iv, ciphertext, tag]));
    },

    /** The session of a `sessionId`; null when we did not make it, or it has expired. */
    open(sessionId: string): OpenedTicket | null {
      const known = opened.get(sessionId);
      const epoch = replayEpoch();
      if (known !== undefined && known.epoch === epoch && known.ticket.expiresAt > unixSeconds(clock)) {
        return known.ticket;
      }
      const ticket = decrypt(sessionId);
      if (ticket !== null) opened.set(sessionId, { ticket, epoch });
      return ticket;
    },
  };
}

/** Keys by their label, the latest few of them kept. */
function createHourlyKeys(secret: Uint8Array): (label: string) => Uint8Array {
  const keys = new Map<string, Uint8Array>();
  return (label) => {
    let key = keys.get(label);
    if (key === undefined) {
      key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), label, 32));
      if (keys.size >= 4) keys.clear();
      keys.set(label, key);
    }
    return key;
  };
}

export type TicketSealer = ReturnType<typeof createTicketSealer>;
