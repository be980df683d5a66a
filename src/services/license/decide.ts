import type { ApplicationFacts } from '../application/snapshot.ts';
import { type Device, type DeviceFacts, type DevicePlace, placeOf } from './license-devices.ts';

/** The facts about client software that a verdict depends on. Null: not known, so that nothing is decided by it. */
export interface ClientFacts {
  readonly version: string | null;
  /** The version of the sealed protocol that it speaks. */
  readonly protocol: 1 | 2 | null;
  /** Null without an address. */
  readonly ipBanned: boolean | null;
  /** Null if no HWID was sent. */
  readonly hwidBanned: boolean | null;
}

/** The facts about a license that a verdict depends on. */
export interface LicenseFacts extends DeviceFacts {
  readonly status: 'unused' | 'active' | 'banned';
  readonly durationSeconds: number;
  readonly expiresAt: Date | null;
  /** How long the license is still valid after its expiry. */
  readonly graceSeconds: number;
  /** Null unless it is suspended. */
  readonly suspendedAt: Date | null;
  /** Set while a suspension keeps the remaining term. */
  readonly clockStoppedAt: Date | null;
  /** When the key that names the license ends; null for its current key. */
  readonly keyValidUntil: Date | null;
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

const clientRefusals = ['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED'] as const;

/** The codes of a refusal, in the order of the rules. */
export const refusalCodes = [
  ...clientRefusals,
  'LICENSE_NOT_FOUND',
  'APP_MISMATCH',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** Whether a verdict refuses the client, whatever its license. */
export const isClientRefusal = (code: string): boolean => clientRefusals.some((each) => each === code);

/** A rule's answer: a refusal, 'pass', or 'not_asked' if the request does not say what the rule is about. */
export type RuleOutcome = 'pass' | 'not_asked' | RefusalCode;

export interface Rule {
  readonly name: RuleName;
  readonly judge: (facts: Facts) => RuleOutcome;
}

/** The names of the rules, in their order. */
export const ruleNames = [
  'application_status',
  'application_version',
  'protocol_version',
  'ip_ban',
  'hwid_ban',
  'license_key',
  'license_application',
  'license_ban',
  'suspension',
  'expiry',
  'device_release',
  'device_limit',
] as const;
export type RuleName = (typeof ruleNames)[number];

/** A rule about the client's side. */
const aboutClient =
  (judge: (client: ClientFacts, application: ApplicationFacts) => RuleOutcome) =>
  ({ client, application }: Facts): RuleOutcome =>
    client === null ? 'not_asked' : judge(client, application);

/** A rule about a license that exists. */
const aboutLicense =
  (judge: (license: LicenseFacts, facts: Facts) => RuleOutcome) =>
  (facts: Facts): RuleOutcome =>
    facts.license === null || facts.license === 'not-asked' ? 'not_asked' : judge(facts.license, facts);

/** A rule about the device that asks. */
const aboutDevice = (judge: (place: DevicePlace, license: LicenseFacts) => RuleOutcome) =>
  aboutLicense((license, facts) => {
    const place = placeOfAsking(facts, license);
    return place === null ? 'not_asked' : judge(place, license);
  });

/** The rules of a verdict, in the order of SPEC §10. The first that refuses decides. */
export const rules: readonly Rule[] = [
  {
    name: 'application_status',
    judge: aboutClient((_client, { status }) => (status === 'disabled' ? 'APP_DISABLED' : 'pass')),
  },
  {
    name: 'application_version',
    judge: aboutClient(({ version }, application) => {
      if (version === null) return 'not_asked';
      return version === application.version ? 'pass' : 'APP_OUTDATED';
    }),
  },
  {
    name: 'protocol_version',
    judge: aboutClient(({ protocol }, application) => {
      if (protocol === null) return 'not_asked';
      return application.protocol === 'v2_only' && protocol !== 2 ? 'APP_OUTDATED' : 'pass';
    }),
  },
  { name: 'ip_ban', judge: aboutClient(({ ipBanned }) => refusedIf(ipBanned, 'IP_BANNED')) },
  { name: 'hwid_ban', judge: aboutClient(({ hwidBanned }) => refusedIf(hwidBanned, 'HWID_BANNED')) },
  {
    name: 'license_key',
    judge: ({ license, now }) => {
      if (license === 'not-asked') return 'not_asked';
      if (license === null) return 'LICENSE_NOT_FOUND';
      return isKeyOver(license, now) ? 'LICENSE_NOT_FOUND' : 'pass';
    },
  },
  {
    name: 'license_application',
    judge: aboutLicense(({ applicationId }, { application }) =>
      applicationId === application.id ? 'pass' : 'APP_MISMATCH',
    ),
  },
  { name: 'license_ban', judge: aboutLicense(({ status }) => (status === 'banned' ? 'BANNED' : 'pass')) },
  {
    name: 'suspension',
    judge: aboutLicense(({ suspendedAt }) => (suspendedAt === null ? 'pass' : 'SUSPENDED')),
  },
  {
    name: 'expiry',
    judge: aboutLicense((license, { now }) => (isPast(endOf(license), now) ? 'EXPIRED' : 'pass')),
  },
  {
    name: 'device_release',
    judge: aboutDevice(({ kind }) => (kind === 'released' ? 'DEVICE_RELEASED' : 'pass')),
  },
  {
    name: 'device_limit',
    // The code of a license for one device is older than licenses for several.
    judge: aboutDevice(({ kind }, { deviceLimit }) => {
      if (kind !== 'full') return 'pass';
      return deviceLimit === 1 ? 'HWID_MISMATCH' : 'DEVICE_LIMIT';
    }),
  },
];

function refusedIf(isBanned: boolean | null, code: RefusalCode): RuleOutcome {
  if (isBanned === null) return 'not_asked';
  return isBanned ? code : 'pass';
}

/** The place of the device that asks; null if the request names none, or the application does not bind devices. */
export function placeOfAsking({ application, hwid, deviceHash, now }: Facts, license: LicenseFacts) {
  const device = asking(hwid, deviceHash);
  return application.hwidLockEnabled && device !== null ? placeOf(license, device, now) : null;
}

function asking(hwid: string | null, deviceHash: string | undefined): Device | null {
  if (hwid !== null) return { hwid };
  return deviceHash === undefined ? null : { deviceHash };
}

/** Changes that an accepted request makes to its license. */
export interface LicenseEffects {
  /** On first use: the license becomes active with this expiry (null: it never expires). */
  readonly activate: { readonly expiresAt: Date | null } | null;
  /** What becomes of the device that asks; null if it is bound already, or need not be. */
  readonly device: Extract<DevicePlace, { kind: 'new' | 'identified' }> | null;
}

export type Decision =
  /** `releasedAt`: only with DEVICE_RELEASED. */
  | { readonly code: RefusalCode; readonly releasedAt?: Date }
  | {
      readonly code: 'OK';
      readonly effects: LicenseEffects;
      readonly expiresAt: Date | null;
      /** Set while the license is only valid because of its grace. */
      readonly graceEndsAt: Date | null;
    };

const notAboutLicense: Decision = {
  code: 'OK',
  effects: { activate: null, device: null },
  expiresAt: null,
  graceEndsAt: null,
};

/**
 * Decides whether a license is valid. This is the only place that does, for validate, register, login, upgrade and the
 * dashboard. It is pure: the caller looks up the facts and applies the effects.
 */
export function decide(facts: Facts): Decision {
  for (const { judge } of rules) {
    const outcome = judge(facts);
    if (outcome !== 'pass' && outcome !== 'not_asked') return refusal(facts, outcome);
  }
  const { license, now } = facts;
  if (license === null || license === 'not-asked') return notAboutLicense;
  const isFirstUse = license.status === 'unused';
  const expiresAt = isFirstUse ? firstExpiry(license.durationSeconds, now) : license.expiresAt;
  const place = placeOfAsking(facts, license);
  return {
    code: 'OK',
    effects: {
      activate: isFirstUse ? { expiresAt } : null,
      device: place?.kind === 'new' || place?.kind === 'identified' ? place : null,
    },
    expiresAt,
    graceEndsAt: graceEndsAt(license, now),
  };
}

function refusal(facts: Facts, code: RefusalCode): Decision {
  const { license } = facts;
  if (code !== 'DEVICE_RELEASED' || license === null || license === 'not-asked') return { code };
  const place = placeOfAsking(facts, license);
  return place?.kind === 'released' ? { code, releasedAt: place.at } : { code };
}

type Term = Pick<LicenseFacts, 'status' | 'expiresAt'> & Partial<Pick<LicenseFacts, 'clockStoppedAt'>>;

/**
 * Whether a license's term has ended, from the exact millisecond of its expiry on. Its grace may still run. While a
 * suspension keeps the remaining term, it does not end.
 */
export function isExpired({ status, expiresAt, clockStoppedAt = null }: Term, now: Date): boolean {
  return status === 'active' && isPast(expiresAt, clockStoppedAt ?? now);
}

/** When a license stops being valid: the end of its grace. Null if never. */
export function endOf({
  status,
  expiresAt,
  graceSeconds,
}: Pick<LicenseFacts, 'status' | 'expiresAt' | 'graceSeconds'>): Date | null {
  if (status !== 'active' || expiresAt === null || graceSeconds === 0)
    return status === 'active' ? expiresAt : null;
  return new Date(Math.min(expiresAt.getTime() + graceSeconds * 1000, latestExpiry.getTime()));
}

/** Whether a replaced key has ended: in its time, and with the license's term at the latest, also if that was moved since. */
const isKeyOver = (license: LicenseFacts, now: Date): boolean =>
  license.keyValidUntil !== null && (isPast(license.keyValidUntil, now) || isExpired(license, now));

/** Whether a license stops being valid at an earlier time with this expiry and this grace; by default with its own. */
export function endsEarlier(
  license: Pick<LicenseFacts, 'status' | 'expiresAt' | 'graceSeconds'>,
  {
    expiresAt = license.expiresAt,
    graceSeconds = license.graceSeconds,
  }: { readonly expiresAt?: Date | null | undefined; readonly graceSeconds?: number | undefined },
): boolean {
  const before = endOf(license);
  const after = endOf({ status: license.status, expiresAt, graceSeconds });
  return after !== null && (before === null || after < before);
}

/** The end of a license's grace while it is only valid because of it; otherwise null. */
export function graceEndsAt(license: Term & Pick<LicenseFacts, 'graceSeconds'>, now: Date): Date | null {
  if (license.graceSeconds === 0 || !isExpired(license, now)) return null;
  const end = endOf(license);
  return isPast(end, license.clockStoppedAt ?? now) ? null : end;
}

/** An invalid date counts as past: it must never mean that a license does not expire. */
const isPast = (end: Date | null, now: Date): boolean => end !== null && !(end > now);

/** The latest possible expiry: client software parses ISO 8601, in which years have four digits. Enforced by the database too. */
export const latestExpiry = new Date('9999-12-31T23:59:59Z');

/** The end of a term that begins now; null if it is not limited. */
export function firstExpiry(durationSeconds: number, now: Date): Date | null {
  if (durationSeconds === 0) return null;
  return new Date(Math.min(now.getTime() + durationSeconds * 1000, latestExpiry.getTime()));
}
