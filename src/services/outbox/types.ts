/** What an event is about. `id` in the envelope is the id of such a thing. */
export type SubjectKind =
  | 'account'
  | 'api_key'
  | 'application'
  | 'ban'
  | 'device'
  | 'license'
  | 'policy'
  | 'user'
  | 'webhook';

/**
 * All types of events, and what each is about. Types keep their names, because receivers compare them. docs/events.md
 * describes their data.
 */
export const eventSubjects = {
  'account.changed': 'account',
  'account.totp_enabled': 'account',
  'account.totp_disabled': 'account',
  'account.recovery_codes_renewed': 'account',
  'account.sessions_revoked': 'account',
  'api_key.created': 'api_key',
  'api_key.changed': 'api_key',
  'api_key.rotated': 'api_key',
  'api_key.revoked': 'api_key',
  'application.created': 'application',
  'application.changed': 'application',
  'application.deleted': 'application',
  'ban.removed': 'ban',
  'device.bound': 'device',
  'device.released': 'device',
  'device.renamed': 'device',
  'device.moved': 'device',
  'hwid.reset': 'license',
  'lease.issued': 'license',
  /** Up to 500 licenses: its subject is their application. */
  'license.created': 'application',
  'license.activated': 'license',
  'license.refused': 'license',
  'license.suspended': 'license',
  'license.reinstated': 'license',
  'license.banned': 'license',
  'license.unbanned': 'license',
  'license.renewed': 'license',
  'license.extended': 'license',
  'license.changed': 'license',
  'license.key_rotated': 'license',
  'license.tier_changed': 'license',
  'license.deleted': 'license',
  'license.expiring': 'license',
  'license.expired': 'license',
  /** All licenses of an application, by one request. */
  'licenses.extended': 'application',
  'policy.created': 'policy',
  'policy.changed': 'policy',
  'policy.deleted': 'policy',
  /** To a license. */
  'policy.applied': 'license',
  'user.created': 'user',
  'user.registered': 'user',
  'user.upgraded': 'user',
  'user.deleted': 'user',
  'webhook.created': 'webhook',
  'webhook.changed': 'webhook',
  'webhook.deleted': 'webhook',
  'webhook.secret_rotated': 'webhook',
  'webhook.disabled': 'webhook',
} as const satisfies Readonly<Record<string, SubjectKind>>;

export type EventType = keyof typeof eventSubjects;

export const eventTypes = Object.keys(eventSubjects) as readonly EventType[];

/** The types that a pattern stands for: a type, or `license.*` for all that begin with `license.`; none if it is unknown. */
export function typesOf(pattern: string): readonly EventType[] {
  const isMatch = pattern.endsWith('.*')
    ? (type: string) => type.startsWith(pattern.slice(0, -1))
    : (type: string) => type === pattern;
  return eventTypes.filter(isMatch);
}
