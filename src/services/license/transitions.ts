import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { strictObject, text } from '../fields.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { isExpired, latestExpiry } from './decide.ts';
import { maxTags } from './entitlements.ts';
import type { LockedLicense } from './lock.ts';
import { shownStatus } from './view.ts';

/** Columns that a transition writes. */
export interface ChangedColumns {
  readonly status?: LockedLicense['status'];
  readonly suspendedAt?: Date | null;
  readonly suspensionReason?: string | null;
  readonly clockStoppedAt?: Date | null;
  readonly expiresAt?: Date | null;
  readonly durationSeconds?: number;
  readonly subscriptionTier?: number;
  readonly tags?: string[];
}

/** What a transition does to its license: the columns to write, and the log entry. `changeLicense` applies it. */
export interface TransitionChange {
  readonly data: ChangedColumns;
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
  /** Whether the license's leases are no longer valid. */
  readonly revokesLeases: boolean;
}

/** A change, or why there is none: INVALID_TRANSITION, or VALIDATION_FAILED if the parameters do not fit the license. */
export type TransitionOutcome = { readonly change: TransitionChange } | { readonly refusal: ServiceError };

/** What transitions depend on. */
export type Stateful = Pick<
  LockedLicense,
  | 'status'
  | 'activatedAt'
  | 'durationSeconds'
  | 'expiresAt'
  | 'suspendedAt'
  | 'clockStoppedAt'
  | 'subscriptionTier'
  | 'tags'
>;

/**
 * A transition of a license's life. Pure: the caller has locked the license, and applies the change in the same
 * transaction. Whether one is possible goes by the status that is shown: a license that is suspended and banned is banned.
 */
export type Transition<Params> = (license: Stateful, params: Params, now: Date) => TransitionOutcome;

/** The change, or its refusal as an exception. @throws {ServiceError} INVALID_TRANSITION, VALIDATION_FAILED */
export function requireChange(outcome: TransitionOutcome): TransitionChange {
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.change;
}

const invalid = (why: string): TransitionOutcome => ({
  refusal: new ServiceError('INVALID_TRANSITION', `${why} Nothing was changed.`),
});

const unfit = (member: string, message: string): TransitionOutcome => ({
  refusal: ServiceError.invalidMember(member, message),
});

const change = (
  event: SecurityEvent,
  data: ChangedColumns,
  {
    metadata = {},
    revokesLeases = false,
  }: Partial<Pick<TransitionChange, 'metadata' | 'revokesLeases'>> = {},
): TransitionOutcome => ({ change: { data, event, metadata, revokesLeases } });

/** Bans the license alone. A banned one stays banned. */
export const ban: Transition<void> = () =>
  change('license_banned', { status: 'banned' }, { metadata: { scope: 'license' }, revokesLeases: true });

/** Whether the term has begun: by the first use, or at the creation. */
export const hasStarted = ({
  status,
  activatedAt,
  expiresAt,
}: Pick<Stateful, 'status' | 'activatedAt' | 'expiresAt'>): boolean =>
  status === 'active' || (status === 'banned' && (activatedAt !== null || expiresAt !== null));

/** Restores what the license was before its ban: unused or active, and suspended if it was. */
export const unban: Transition<void> = (license) =>
  license.status === 'banned'
    ? change('license_unbanned', { status: hasStarted(license) ? 'active' : 'unused' })
    : invalid('This license is not banned.');

export const suspendParams = strictObject({
  /** For the developer; customers are not told. */
  reason: text({ min: 1, max: 200 }).optional(),
  /** Whether the remaining term is kept until the license is reinstated. */
  stopClock: z.boolean().default(false),
});

export const suspend: Transition<z.output<typeof suspendParams>> = (
  license,
  { reason = null, stopClock },
  now,
) => {
  switch (shownStatus(license, now)) {
    case 'banned':
      return invalid('This license is banned.');
    case 'suspended':
      return invalid('This license is suspended already.');
    case 'unused':
    case 'active':
    case 'expired':
      return change(
        'license_suspended',
        { suspendedAt: now, suspensionReason: reason, clockStoppedAt: stopClock ? now : null },
        { metadata: { reason, stopClock }, revokesLeases: true },
      );
  }
};

/** Ends a suspension. If it kept the remaining term, the expiry moves by exactly as long as it lasted. */
export const reinstate: Transition<void> = (license, _params, now) => {
  if (license.status === 'banned') return invalid('This license is banned: unban it first.');
  if (license.suspendedAt === null) return invalid('This license is not suspended.');
  const { expiresAt, clockStoppedAt } = license;
  // A clock that was set back meanwhile takes nothing away.
  const stopped = clockStoppedAt === null ? 0 : Math.max(0, now.getTime() - clockStoppedAt.getTime());
  const until = expiresAt === null ? null : expiresAt.getTime() + stopped;
  return change(
    'license_reinstated',
    {
      suspendedAt: null,
      suspensionReason: null,
      clockStoppedAt: null,
      ...(until !== null && stopped > 0 && { expiresAt: new Date(Math.min(until, latestExpiry.getTime())) }),
    },
    { metadata: { keptSeconds: Math.floor(stopped / 1000) } },
  );
};

const tooLate = 'would make the license expire after 9999-12-31T23:59:59Z, the latest possible expiry';

/** A new expiry, unless it is too late. What ends earlier than before revokes leases. */
function endAt(license: Stateful, end: number, event: SecurityEvent, metadata: TransitionChange['metadata']) {
  if (end > latestExpiry.getTime()) return unfit('seconds', tooLate);
  const expiresAt = new Date(end);
  return change(
    event,
    { expiresAt },
    {
      metadata: { ...metadata, expiresAt: expiresAt.toISOString() },
      revokesLeases: license.expiresAt !== null && expiresAt < license.expiresAt,
    },
  );
}

/**
 * Extends an active license with an expiry that has not expired, as `extendLicenses` does for all of an application. One
 * whose clock is stopped has not expired if it had not when it was suspended.
 */
export const extend: Transition<{ readonly seconds: number }> = (license, { seconds }, now) => {
  if (license.status === 'banned') return invalid('This license is banned.');
  if (license.status === 'unused') return invalid('This license is unused: its term has not started.');
  if (license.expiresAt === null) return invalid('This license never expires.');
  if (isExpired(license, now)) return invalid('This license has expired: renew it instead.');
  if (license.expiresAt >= latestExpiry) return invalid('This license has the latest possible expiry.');
  return endAt(license, license.expiresAt.getTime() + seconds * 1000, 'license_extended', { seconds });
};

/** A PostgreSQL integer. */
const maxSeconds = 2_147_483_647;

export const renewParams = strictObject({
  seconds: z.int().min(1).max(maxSeconds),
  /** Where the seconds begin: at the expiry, now, or now only if the license has expired. */
  basis: z.enum(['from_expiry', 'from_now', 'from_now_if_expired']),
});

/**
 * Gives a license a new expiry, also one that has expired. The term of an unused one has not started: it gets longer,
 * whatever the basis. While the clock is stopped, its time is the time when it was stopped, so that `from_now` leaves
 * exactly these seconds after the suspension.
 */
export const renew: Transition<z.output<typeof renewParams>> = (license, { seconds, basis }, now) => {
  if (license.status === 'banned') return invalid('This license is banned: unban it first.');
  const metadata = { seconds, basis };
  if (license.status === 'unused') {
    if (license.durationSeconds === 0) return invalid('This license never expires.');
    const durationSeconds = license.durationSeconds + seconds;
    if (durationSeconds > maxSeconds) {
      return unfit('seconds', `would make the term longer than ${maxSeconds} seconds`);
    }
    return change('license_renewed', { durationSeconds }, { metadata });
  }
  if (license.expiresAt === null) return invalid('This license never expires.');
  const time = license.clockStoppedAt ?? now;
  const isFromNow = basis === 'from_now' || (basis === 'from_now_if_expired' && isExpired(license, now));
  const from = isFromNow ? time : license.expiresAt;
  return endAt(license, from.getTime() + seconds * 1000, 'license_renewed', metadata);
};

/** Sets the tier. */
export const setTierTo: Transition<{ readonly subscriptionTier: number }> = (license, { subscriptionTier }) =>
  change(
    'license_tier_changed',
    { subscriptionTier },
    { metadata: { from: license.subscriptionTier, to: subscriptionTier } },
  );

/** Adds tags that the license does not have. */
export const addTags: Transition<{ readonly tags: readonly string[] }> = (license, { tags }) => {
  const all = [...new Set([...license.tags, ...tags])];
  if (all.length === license.tags.length) return invalid('This license has these tags already.');
  if (all.length > maxTags) {
    return unfit('tags', `would be ${all.length} with those that the license has; at most ${maxTags}`);
  }
  return change('license_changed', { tags: all }, { metadata: { changed: ['tags'] } });
};

/** Removes those of the tags that the license has. */
export const removeTags: Transition<{ readonly tags: readonly string[] }> = (license, { tags }) => {
  const kept = license.tags.filter((tag) => !tags.includes(tag));
  if (kept.length === license.tags.length) return invalid('This license has none of these tags.');
  return change('license_changed', { tags: kept }, { metadata: { changed: ['tags'] } });
};
