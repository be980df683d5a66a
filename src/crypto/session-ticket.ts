import { hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parse as parseUuid, stringify as stringifyUuid } from 'uuid';
import { type Clock, unixSeconds } from '../lib/clock.ts';
import type { ApplicationId } from '../lib/ids.ts';
import { sessionLifetimeSeconds } from '../protocol/constants.ts';
import { openAesGcm, sealAesGcm } from './aead.ts';
import { decodeBase64Url, encodeBase64Url } from './base64.ts';

/** A session's data. The ticket contains all that later sealed requests need, so the server stores nothing. */
export interface SessionTicket {
  readonly applicationId: ApplicationId;
  /** The version that the client sent at session init. */
  readonly clientVersion: string;
  /** AES-256 key of the session. */
  readonly sessionKey: Uint8Array;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** An opened ticket, with a tag that uniquely identifies the session. */
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

/** Size of the cache of opened tickets, about 600 bytes each. It saves a decryption for each further request. */
const maxCachedTickets = 20_000;

interface CachedTicket {
  readonly ticket: OpenedTicket;
  /** The replay epoch when the ticket was opened. */
  readonly epoch: string;
}

export interface TicketSealerOptions {
  readonly ticketSecret: Uint8Array;
  /** Ticket secrets of previous master secrets: tickets sealed with them can be opened until they expire. */
  readonly previousTicketSecrets?: readonly Uint8Array[];
  readonly clock: Clock;
  /**
   * Identifies the replay guard's memory. A new value means that nonces were lost, so all earlier sessions, and with
   * them all earlier envelopes, must be refused.
   */
  readonly replayEpoch: () => string;
}

/**
 * Seals and opens session tickets (SPEC, "Session"): `version ‖ expiry ‖ IV ‖ ciphertext ‖ tag` in base64url, with
 * version and expiry as associated data. Each hour has its own key, so that the number of random IVs per key stays far
 * below the limit of 2^32 (NIST SP 800-38D §8.3), however long the master secret is used.
 */
export function createTicketSealer({
  ticketSecret,
  previousTicketSecrets = [],
  clock,
  replayEpoch,
}: TicketSealerOptions) {
  const current = createHourlyKeys(ticketSecret);
  const all = [current, ...previousTicketSecrets.map(createHourlyKeys)];
  const cache = new LRUCache<string, CachedTicket>({ max: maxCachedTickets });

  const labelOf = (expiresAt: number) => `${replayEpoch()}/${Math.floor(expiresAt / hourSeconds)}`;

  const decrypt = (sessionId: string): OpenedTicket | null => {
    const bytes = decodeBase64Url(sessionId);
    if (bytes === null || bytes.length < headerLength + ivLength + uuidLength + keyLength + tagLength)
      return null;
    const expiresAt = bytes.readUInt32BE(1);
    const now = unixSeconds(clock);
    // The upper bound prevents forged expiries from making us derive keys for arbitrary hours.
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
    /** Creates the `sessionId` of a new session. */
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

    /** Opens a `sessionId`; null if it is forged or expired. */
    open(sessionId: string): OpenedTicket | null {
      const cached = cache.get(sessionId);
      const epoch = replayEpoch();
      if (cached !== undefined && cached.epoch === epoch && cached.ticket.expiresAt > unixSeconds(clock)) {
        return cached.ticket;
      }
      const ticket = decrypt(sessionId);
      if (ticket !== null) cache.set(sessionId, { ticket, epoch });
      return ticket;
    },
  };
}

/** Derives keys by label; caches the last few. */
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
