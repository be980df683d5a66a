import type { ApplicationFacts } from '../application/snapshot.ts';
import { type DeviceBinding, isBoundToOther } from './device-binding.ts';

/** The facts about client software that a verdict depends on. */
export interface ClientFacts {
  readonly version: string;
  /** The version of the sealed protocol that it speaks. */
  readonly protocol: 1 | 2;
  readonly ipBanned: boolean;
  /** Also false if no HWID was sent. */
  readonly hwidBanned: boolean;
}

/** The facts about a license that a verdict depends on. */
export interface LicenseFacts extends DeviceBinding {
  readonly applicationId: string;
  readonly status: 'unused' | 'active' | 'banned';
  readonly durationSeconds: number;
  readonly expiresAt: Date | null;
}

export interface Facts {
  readonly application: ApplicationFacts;
  /** Null for dashboard requests, which have no client. */
  readonly client: ClientFacts | null;
  /** Null if the license does not exist; 'not-asked' if the request is not about a license. */
  readonly license: LicenseFacts | null | 'not-asked';
  /** Null if none was sent; device checks are then skipped. */
  readonly hwid: string | null;
  /** The device of a device request, whose HWID is not known; `hwid` is then null. */
  readonly deviceHash?: string;
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

const clientRefusals = ['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED'] as const;

/** Whether a verdict refuses the client, whatever its license. */
export const isClientRefusal = (code: string): boolean => clientRefusals.some((each) => each === code);

/** Changes that an accepted request makes to its license. */
export interface LicenseEffects {
  /** On first use: the license becomes active with this expiry (null: it never expires). */
  readonly activate: { readonly expiresAt: Date | null } | null;
  /** The device to bind. */
  readonly bindHwid: string | null;
}

export type Decision =
  | { readonly code: RefusalCode }
  | { readonly code: 'OK'; readonly effects: LicenseEffects; readonly expiresAt: Date | null };

const noEffects: LicenseEffects = { activate: null, bindHwid: null };

/**
 * Decides whether a license is valid. This is the only place that does, for validate, register, login, upgrade and the
 * dashboard. It is pure: the caller looks up the facts and applies the effects. The order of checks is that of SPEC §10.
 */
export function decide(facts: Facts): Decision {
  return refuseClient(facts) ?? decideLicense(facts);
}

function refuseClient({ application, client }: Facts): Decision | null {
  if (client === null) return null;
  if (application.status === 'disabled') return { code: 'APP_DISABLED' };
  if (client.version !== application.version) return { code: 'APP_OUTDATED' };
  if (application.protocol === 'v2_only' && client.protocol !== 2) return { code: 'APP_OUTDATED' };
  if (client.ipBanned) return { code: 'IP_BANNED' };
  if (client.hwidBanned) return { code: 'HWID_BANNED' };
  return null;
}

function decideLicense({ application, license, hwid, deviceHash, now }: Facts): Decision {
  if (license === 'not-asked') return { code: 'OK', effects: noEffects, expiresAt: null };
  if (license === null) return { code: 'LICENSE_NOT_FOUND' };
  if (license.applicationId !== application.id) return { code: 'APP_MISMATCH' };
  if (license.status === 'banned') return { code: 'BANNED' };
  if (isExpired(license, now)) return { code: 'EXPIRED' };
  const lock = application.hwidLockEnabled && hwid !== null;
  const device = hwid !== null ? { hwid } : deviceHash === undefined ? null : { deviceHash };
  if (application.hwidLockEnabled && device !== null && isBoundToOther(application.id, license, device)) {
    return { code: 'HWID_MISMATCH' };
  }

  const expiresAt =
    license.status === 'unused' ? firstExpiry(license.durationSeconds, now) : license.expiresAt;
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
 * Whether a license has expired, from the exact millisecond of its expiry on. An invalid date counts as expired: it must
 * never mean that a license does not expire.
 */
export function isExpired(license: Pick<LicenseFacts, 'status' | 'expiresAt'>, now: Date): boolean {
  return license.status === 'active' && license.expiresAt !== null && !(license.expiresAt > now);
}

/** The latest possible expiry: client software parses ISO 8601, in which years have four digits. Enforced by the database too. */
export const latestExpiry = new Date('9999-12-31T23:59:59Z');

function firstExpiry(durationSeconds: number, now: Date): Date | null {
  if (durationSeconds === 0) return null;
  return new Date(Math.min(now.getTime() + durationSeconds * 1000, latestExpiry.getTime()));
}
