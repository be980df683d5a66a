import type { ApplicationFacts } from '../application/snapshot.ts';

/** What is known of the client software that asks. */
export interface ClientFacts {
  readonly version: string;
  readonly ipBanned: boolean;
  /** False also when no HWID was sent: then there is nothing to look up. */
  readonly hwidBanned: boolean;
}

/** What is known of a license. */
export interface LicenseFacts {
  readonly applicationId: string;
  readonly status: 'unused' | 'active' | 'banned';
  readonly durationSeconds: number;
  readonly expiresAt: Date | null;
  readonly hwid: string | null;
}

export interface Facts {
  readonly application: ApplicationFacts;
  /** Null when a developer acts in the dashboard: no client stands behind the request. */
  readonly client: ClientFacts | null;
  /** Null: there is none. 'not-asked': the request is about no license. */
  readonly license: LicenseFacts | null | 'not-asked';
  /** Null when none was sent: the device checks are skipped (interface, "Client protocol"). */
  readonly hwid: string | null;
  readonly now: Date;
}

export type RefusalCode =
  | 'APP_DISABLED'
  | 'APP_OUTDATED'
  | 'IP_BANNED'
  | 'HWID_BANNED'
  | 'LICENSE_NOT_FOUND'
  | 'APP_MISMATCH'
  | 'BANNED'
  | 'EXPIRED'
  | 'HWID_MISMATCH';

/** What an accepted request does to its license. */
export interface LicenseEffects {
  /** First use: the license becomes active, and ends then (null: never). */
  readonly activate: { readonly expiresAt: Date | null } | null;
  /** The device to bind. */
  readonly bindHwid: string | null;
}

export type Decision =
  | { readonly code: RefusalCode }
  | { readonly code: 'OK'; readonly effects: LicenseEffects; readonly expiresAt: Date | null };

const noEffects: LicenseEffects = { activate: null, bindHwid: null };

/**
 * The verdict: the one place that decides whether a license holds, for validate, register, login, upgrade and the
 * dashboard alike. Pure: the caller looks the facts up and carries the effects out. The order is design §5's.
 */
export function decide(facts: Facts): Decision {
  return refuseClient(facts) ?? decideLicense(facts);
}

function refuseClient({ application, client }: Facts): Decision | null {
  if (client === null) return null;
  if (application.status === 'disabled') return { code: 'APP_DISABLED' };
  if (client.version !== application.version) return { code: 'APP_OUTDATED' };
  if (client.ipBanned) return { code: 'IP_BANNED' };
  if (client.hwidBanned) return { code: 'HWID_BANNED' };
  return null;
}

function decideLicense({ application, license, hwid, now }: Facts): Decision {
  if (license === 'not-asked') return { code: 'OK', effects: noEffects, expiresAt: null };
  if (license === null) return { code: 'LICENSE_NOT_FOUND' };
  if (license.applicationId !== application.id) return { code: 'APP_MISMATCH' };
  if (license.status === 'banned') return { code: 'BANNED' };
  if (isExpired(license, now)) return { code: 'EXPIRED' };
  const lock = application.hwidLockEnabled && hwid !== null;
  if (lock && license.hwid !== null && license.hwid !== hwid) return { code: 'HWID_MISMATCH' };

  const expiresAt =
    license.status === 'unused' ? endOfFirstTerm(license.durationSeconds, now) : license.expiresAt;
  return {
    code: 'OK',
    effects: {
      activate: license.status === 'unused' ? { expiresAt } : null,
      bindHwid: lock && license.hwid === null ? hwid : null,
    },
    expiresAt,
  };
}

/**
 * True from the exact millisecond of the license's expiry. An expiry that is not a valid instant counts as past, because it
 * compares with no other: it must never mean that a license does not expire.
 */
export function isExpired(license: Pick<LicenseFacts, 'status' | 'expiresAt'>, now: Date): boolean {
  return license.status === 'active' && license.expiresAt !== null && !(license.expiresAt > now);
}

/** No license ends later: client software reads ISO 8601, whose years have four digits. The database holds it, too. */
export const latestExpiry = new Date('9999-12-31T23:59:59Z');

function endOfFirstTerm(durationSeconds: number, now: Date): Date | null {
  if (durationSeconds === 0) return null;
  return new Date(Math.min(now.getTime() + durationSeconds * 1000, latestExpiry.getTime()));
}
