import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTicketSealer } from '../../src/crypto/session-ticket.ts';
import { type ApplicationId, newId } from '../../src/lib/ids.ts';
import { decodeBase64Url, encodeBase64Url } from '../../src/protocol/base64.ts';

const applicationId = newId() as ApplicationId;
const noon = Date.parse('2026-03-01T12:00:00Z');

/** A sealer whose clock and epoch a test can change. */
function sealer(options: { secret?: Uint8Array; previous?: Uint8Array[]; at?: number; epoch?: string } = {}) {
  const state = { now: options.at ?? noon, epoch: options.epoch ?? 'epoch' };
  const tickets = createTicketSealer({
    ticketSecret: options.secret ?? new Uint8Array(32).fill(7),
    previousTicketSecrets: options.previous ?? [],
    clock: { now: () => state.now },
    replayEpoch: () => state.epoch,
  });
  return { ...tickets, state };
}

const session = (more: { clientVersion?: string } = {}) => ({
  applicationId,
  clientVersion: '1.0.0',
  sessionKey: new Uint8Array(randomBytes(32)),
  ...more,
});

const bytesOf = (ticket: string) => decodeBase64Url(ticket) ?? expect.fail('not base64url');

describe('a session ticket', () => {
  test('opens to the sealed data for 900 seconds', () => {
    const { seal, open } = sealer();
    fc.assert(
      fc.property(
        fc.uuid().map((id) => id as ApplicationId),
        fc.string({ minLength: 1, maxLength: 64, unit: 'binary' }),
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (id, clientVersion, sessionKey) => {
          const opened = open(seal({ applicationId: id, clientVersion, sessionKey }));
          expect(opened).toMatchObject({ applicationId: id, clientVersion, expiresAt: noon / 1000 + 900 });
          expect(Uint8Array.from(opened?.sessionKey ?? [])).toEqual(sessionKey);
        },
      ),
    );
  });

  test('reveals no application, version or key', () => {
    const { seal } = sealer();
    const sealed = session({ clientVersion: 'a version to look for' });
    const bytes = Buffer.from(bytesOf(seal(sealed)));
    expect(bytes.includes('a version to look for')).toBe(false);
    expect(bytes.includes(Buffer.from(sealed.sessionKey))).toBe(false);
    expect(bytes.includes(Buffer.from(applicationId.replaceAll('-', ''), 'hex'))).toBe(false);
  });

  test('of the longest version fits the 1,024 characters of a sessionId', () => {
    const { seal, open } = sealer();
    const clientVersion = '漢'.repeat(64);
    const ticket = seal(session({ clientVersion }));
    expect(ticket.length).toBeLessThanOrEqual(1024);
    expect(open(ticket)).toMatchObject({ clientVersion });
  });

  test('is different each time, with its own tag', () => {
    const { seal, open } = sealer();
    const sealed = session();
    const tickets = Array.from({ length: 100 }, () => seal(sealed));
    expect(new Set(tickets).size).toBe(100);
    expect(new Set(tickets.map((ticket) => open(ticket)?.sessionTag)).size).toBe(100);
  });

  test('has one tag, however often it is opened', () => {
    const { seal, open } = sealer();
    const ticket = seal(session());
    expect(open(ticket)?.sessionTag).toBe(open(ticket)?.sessionTag);
  });

  test('is refused with any one bit changed', () => {
    const { seal, open } = sealer();
    const bytes = bytesOf(seal(session()));
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const forged = bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(open(encodeBase64Url(forged)), `bit ${bit}`).toBeNull();
    }
  });

  test('is refused if truncated at any byte or extended', () => {
    const { seal, open } = sealer();
    const bytes = bytesOf(seal(session()));
    for (let length = 0; length < bytes.length; length++) {
      expect(open(encodeBase64Url(bytes.subarray(0, length)))).toBeNull();
    }
    expect(open(encodeBase64Url(new Uint8Array([...bytes, 0])))).toBeNull();
  });

  test('is refused in any other encoding', () => {
    const { seal, open } = sealer();
    const ticket = seal(session());
    const texts = ['', 'ticket', `${ticket}=`, ` ${ticket}`, `${ticket}\n`, `${ticket.slice(0, -1)}!`];
    for (const text of texts) expect(open(text)).toBeNull();
    fc.assert(fc.property(fc.string(), (text) => open(text) === null));
  });

  test('cannot be combined from parts of two tickets', () => {
    const { seal, open } = sealer();
    const [first, second] = [bytesOf(seal(session())), bytesOf(seal(session()))];
    for (const [from, to] of [
      [5, 17],
      [17, first.length - 16],
      [first.length - 16, first.length],
    ] as const) {
      const mixed = Uint8Array.from(first);
      mixed.set(second.subarray(from, to), from);
      expect(open(encodeBase64Url(mixed))).toBeNull();
    }
  });

  test('expires after 900 seconds', () => {
    const { seal, open, state } = sealer();
    const ticket = seal(session());
    state.now = noon + 899_999;
    expect(open(ticket)).not.toBeNull();
    state.now = noon + 900_000;
    expect(open(ticket)).toBeNull();
  });

  test('is refused with a forged expiry, however distant', () => {
    const { seal, open } = sealer();
    const bytes = bytesOf(seal(session()));
    for (const expiresAt of [0, noon / 1000 + 901, noon / 1000 + 3600, noon / 1000 + 3601, 0xffff_ffff]) {
      const forged = Buffer.from(bytes);
      forged.writeUInt32BE(expiresAt, 1);
      expect(open(encodeBase64Url(forged))).toBeNull();
    }
  });

  test.each([-900, -899, -1, 0, 1])('sealed %i seconds from a full hour opens until its end', (offset) => {
    const { seal, open, state } = sealer({ at: noon + offset * 1000 });
    const ticket = seal(session());
    for (const elapsed of [0, 1, 450, 899]) {
      state.now = noon + (offset + elapsed) * 1000;
      expect(open(ticket), `after ${elapsed} s`).not.toBeNull();
    }
    state.now = noon + (offset + 900) * 1000;
    expect(open(ticket)).toBeNull();
  });

  test('opens after many hours with other keys, because keys are derived again', () => {
    const { seal, open, state } = sealer();
    for (let hour = 0; hour < 12; hour++) {
      state.now = noon + hour * 3_600_000;
      const ticket = seal(session());
      expect(open(ticket)).not.toBeNull();
    }
  });

  test('of one epoch is refused in another, and opens again when the first one is back', () => {
    const { seal, open, state } = sealer();
    const ticket = seal(session());
    state.epoch = 'after a restart';
    expect(open(ticket)).toBeNull();
    expect(open(seal(session()))).not.toBeNull();
    state.epoch = 'epoch';
    expect(open(ticket)).not.toBeNull();
  });

  test('opens on another instance with the same secret and epoch, and on no other', () => {
    const secret = new Uint8Array(randomBytes(32));
    const ticket = sealer({ secret }).seal(session());
    expect(sealer({ secret }).open(ticket)).not.toBeNull();
    expect(sealer({ secret, epoch: 'another' }).open(ticket)).toBeNull();
    expect(sealer({ secret: new Uint8Array(randomBytes(32)) }).open(ticket)).toBeNull();
  });

  test('of a previous secret opens until it expires, and no new one is sealed under it', () => {
    const [old, current] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
    const ticket = sealer({ secret: old }).seal(session());
    const rotated = sealer({ secret: current, previous: [old] });
    expect(rotated.open(ticket)).toMatchObject({ applicationId });
    expect(sealer({ secret: current, previous: [old], epoch: 'another' }).open(ticket)).toBeNull();
    expect(sealer({ secret: old }).open(rotated.seal(session()))).toBeNull();
    expect(sealer({ secret: current }).open(rotated.seal(session()))).not.toBeNull();
    rotated.state.now = noon + 900_000;
    expect(rotated.open(ticket)).toBeNull();
  });
});
