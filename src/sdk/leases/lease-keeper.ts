import { canonicalJson } from '../../protocol/canonical-json.ts';
import { deviceHash } from '../../protocol/v2/device-hash.ts';
import { type LeaseClaims, leaseClaims } from '../../protocol/v2/lease.ts';
import { leaseHeader, readToken } from '../../protocol/v2/signed-token.ts';
import type { LicenseSaid } from '../call.ts';
import type { Settings } from '../options.ts';
import { atIntervals } from './at-intervals.ts';
import { judgeLease, readNewLease } from './judge-lease.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { LeaseMemory } from './lease-memory.ts';
import type { LeaseProblem } from './lease-problem.ts';
import { entryId, findEntry, type LeaseEntry, type LeaseRecord, withEntry } from './lease-record.ts';
import type { RevocationList } from './revocation-list.ts';
import { createRunTimes, secondsAhead } from './run-times.ts';

/** What a lease is about. */
export interface LeaseSubject {
  readonly id: string;
  /** See `deviceHash`. */
  readonly device: string;
}

/** How to ask for a lease. `held`: the `seq` of the lease that is to be renewed. */
export type LeaseQuestion = 'none' | 'first' | { readonly held: number };

/** What the service has just said. */
export interface Said {
  /** Unix seconds. */
  readonly time?: number | undefined;
}

/** What the service has just said about a valid license. */
export interface LicenseFacts
  extends Said,
    Pick<LicenseSaid, 'subscriptionTier' | 'expiresAt' | 'entitlements'> {
  readonly licenseId?: string | undefined;
}

/** A license of which a device was released, so that its leases are revoked. */
export interface ReleasedOf {
  readonly licenseId: string;
  /** The HWID of this device if it is still bound; null if not, or if that is unknown. */
  readonly hwid: string | null;
}

export interface LeaseKeeper {
  subjectOf(licenseKey: string, hwid: string): LeaseSubject;
  /** Whether the next question should ask for a lease. */
  question(subject: LeaseSubject): Promise<LeaseQuestion>;
  /** The claims of the lease that stands in for an answer, or why none does. */
  judge(subject: LeaseSubject): Promise<LeaseClaims | LeaseProblem>;
  /** Stores the lease of an answer, unless it is not valid for this license and device. */
  accept(subject: LeaseSubject, lease: string, facts: LicenseFacts): Promise<void>;
  /** Notes an answer that the license is valid, without a lease. */
  confirm(subject: LeaseSubject, facts: LicenseFacts): Promise<void>;
  /** Deletes the lease only if it can be used no more, after an answer that there will be no other. */
  keepUntilEnd(subject: LeaseSubject, said: Said): Promise<void>;
  /** Deletes the lease, after a signed refusal. */
  remove(subject: LeaseSubject, refusal: Said): Promise<void>;
  /** Deletes the leases of a license after a release. That of a device that is still bound is renewed at the next question. */
  release(released: ReleasedOf): Promise<void>;
  /** Stores a lease that was carried to this device. It must answer a device request, each of which it answers once. */
  importLease(subject: LeaseSubject, lease: string): Promise<LeaseClaims | LeaseProblem>;
}

/** The outcome of an import. `non`: the request to reopen, if the lease could not be stored. */
interface Taken {
  readonly non?: string | undefined;
  readonly result: LeaseClaims | LeaseProblem;
}

interface Parts {
  readonly settings: Pick<Settings, 'appId' | 'publicKey' | 'runTime'>;
  readonly clock: LeaseClock;
  readonly memory: LeaseMemory;
  readonly revocations: RevocationList;
}

/** Keeps the leases of a client, and judges them. */
export function createLeaseKeeper({ settings, clock, memory, revocations }: Parts): LeaseKeeper {
  const { appId, publicKey } = settings;
  const runTimes = createRunTimes(settings.runTime);

  function entryOf(record: LeaseRecord, { id }: LeaseSubject): LeaseEntry | null {
    const entry = findEntry(record, id);
    return entry === null ? null : runTimes.counted(entry);
  }

  /** Judges the stored lease by what was known before this call. */
  async function judgeStored(record: LeaseRecord, entry: LeaseEntry | null, device: string) {
    const { last } = record;
    const list = await revocations.read(record);
    return judgeLease(entry, { appId, publicKey, device, last, time: clock.seconds(), revocations: list });
  }

  /** @param record `last` is 0 where the lease itself says which time it is */
  function readNew(record: LeaseRecord, { id, device }: LeaseSubject, lease: string) {
    const reader = { appId, publicKey, device, last: record.last, time: clock.seconds() };
    return readNewLease(lease, { ...reader, held: findEntry(record, id) });
  }

  function withLease(
    record: LeaseRecord,
    { id }: LeaseSubject,
    lease: string,
    claims: LeaseClaims,
    facts?: LicenseFacts,
  ): LeaseRecord {
    const { seq, rev, iat } = claims;
    const said = facts && { expiresAt: facts.expiresAt };
    const entry = runTimes.counted({ id, lease, used: 0, seq, rev, isOutdated: false, ...said });
    startCounting();
    return { ...withEntry(record, entry), last: Math.max(record.last, iat) };
  }

  let isCounting = false;
  /** A program may run for long after its only question: its run time is written down all the same. */
  function startCounting(): void {
    if (isCounting) return;
    isCounting = true;
    atIntervals(secondsAhead, () => {
      memory.change((record) => {
        const entries = record.entries.map((entry) =>
          runTimes.isCounting(entry) ? runTimes.charged(entry) : entry,
        );
        return { record: { ...clock.advanced(record), entries }, result: undefined };
      });
    });
  }

  /** What a stored lease says, whether or not it can still be used. */
  function claimsOf({ lease }: LeaseEntry): LeaseClaims | null {
    const token = lease === null ? null : readToken(lease, leaseHeader, publicKey);
    return token?.ok ? (leaseClaims.safeParse(token.payload).data ?? null) : null;
  }

  const hear = (record: LeaseRecord, { time }: Said): LeaseRecord =>
    time === undefined ? clock.advanced(record) : clock.corrected(record, time);

  const changeEntry = (
    subject: LeaseSubject,
    said: Said,
    change: (entry: LeaseEntry, record: LeaseRecord) => LeaseEntry,
  ): Promise<void> =>
    memory.change((before) => {
      const record = hear(before, said);
      const entry = entryOf(record, subject);
      return {
        record: entry === null ? record : withEntry(record, change(entry, record)),
        result: undefined,
      };
    });

  /** Stores a lease that answers an open device request. */
  const take = (subject: LeaseSubject, lease: string): Promise<Taken> =>
    memory.change<Taken>(async (before) => {
      const refuse = (result: LeaseProblem) => ({ record: clock.advanced(before), result: { result } });
      const claims = readNew({ ...before, last: 0 }, subject, lease);
      if (typeof claims === 'string') return refuse(claims);
      const { non, iat } = claims;
      // A lease that answers no request could be an old one, from before the license was moved to another device.
      if (non === undefined || !before.nonces.includes(non)) return refuse('not-requested');
      // Like an answer of the service, it ends the refusals after a clock was ahead for a while.
      const accepted = withLease(clock.corrected(before, iat), subject, lease, claims);
      const nonces = before.nonces.filter((nonce) => nonce !== non);
      const result = await judgeStored(accepted, findEntry(accepted, subject.id), subject.device);
      return {
        record: { ...accepted, nonces },
        result: { result },
        ifNotStored: { non, result: typeof result === 'string' ? result : 'not-stored' },
      };
    });

  const reopen = (nonce: string | undefined): Promise<void> =>
    memory.change((record) => ({
      record: nonce === undefined ? record : { ...record, nonces: [...record.nonces, nonce] },
      result: undefined,
    }));

  return {
    subjectOf(licenseKey, hwid) {
      const device = deviceHash(appId, hwid);
      return { device, id: entryId(licenseKey, device) };
    },
    question: (subject) =>
      memory.change<LeaseQuestion>(async (record) => {
        const entry = entryOf(record, subject);
        if (entry === null || entry.lease === null) return { record, result: 'first' };
        const claims = await judgeStored(record, entry, subject.device);
        const isDue =
          typeof claims === 'string' || entry.isOutdated || clock.seconds() >= (claims.iat + claims.exp) / 2;
        return { record, result: isDue ? { held: entry.seq } : 'none' };
      }),
    judge: (subject) =>
      memory.change<LeaseClaims | LeaseProblem>(async (before) => {
        const entry = entryOf(before, subject);
        const result = await judgeStored(before, entry, subject.device);
        const record = clock.advanced(before);
        if (entry === null) return { record, result };
        if (typeof result === 'string') return { record: withEntry(record, entry), result };
        startCounting();
        // A lease whose uses leave no trace would have no bound.
        return { record: withEntry(record, runTimes.charged(entry)), result, ifNotStored: 'not-stored' };
      }),
    accept: (subject, lease, facts) =>
      memory.change((before) => {
        const record = hear(before, facts);
        const claims = readNew(record, subject, lease);
        const isAccepted = typeof claims !== 'string' && claims.sub === facts.licenseId;
        return {
          record: isAccepted ? withLease(record, subject, lease, claims, facts) : record,
          result: undefined,
        };
      }),
    confirm: (subject, facts) =>
      changeEntry(subject, facts, (entry, record) => {
        const claims = entry.lease === null ? 'none' : readNew(record, subject, entry.lease);
        const isOutdated = typeof claims !== 'string' && differs(claims, entry, facts);
        return { ...entry, isOutdated: entry.isOutdated || isOutdated };
      }),
    keepUntilEnd: (subject, said) =>
      changeEntry(subject, said, (entry, record) => {
        const isUsable = entry.lease !== null && typeof readNew(record, subject, entry.lease) !== 'string';
        return isUsable ? entry : { ...entry, lease: null };
      }),
    remove: (subject, refusal) => changeEntry(subject, refusal, (entry) => ({ ...entry, lease: null })),
    release: ({ licenseId, hwid }) =>
      memory.change((record) => {
        const kept = hwid === null ? null : deviceHash(appId, hwid);
        const entries = record.entries.map((entry): LeaseEntry => {
          const claims = claimsOf(entry);
          if (claims?.sub !== licenseId) return entry;
          return claims.dev === kept ? { ...entry, isOutdated: true } : { ...entry, lease: null };
        });
        return { record: { ...clock.advanced(record), entries }, result: undefined };
      }),
    async importLease(subject, lease) {
      const { non, result } = await take(subject, lease);
      // So that the same lease can be imported again.
      if (result === 'not-stored') await reopen(non);
      return result;
    },
  };
}

/** Whether the service says something else about the license than the lease does. */
function differs(claims: LeaseClaims, entry: LeaseEntry, facts: LicenseFacts): boolean {
  const { subscriptionTier, expiresAt, entitlements = {} } = facts;
  if (claims.tier !== subscriptionTier || canonicalJson(claims.ent) !== canonicalJson(entitlements))
    return true;
  if (entry.expiresAt !== undefined) return entry.expiresAt !== expiresAt;
  const end = expiresAt === null ? null : Math.floor(Date.parse(expiresAt) / 1000);
  return claims.lex !== end;
}
