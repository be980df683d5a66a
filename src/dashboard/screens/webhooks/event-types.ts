/** The types of events by what they are about, as docs/events.md has them. */
export const eventGroups: readonly { readonly name: string; readonly types: readonly string[] }[] = [
  {
    name: 'license',
    types: [
      'license.created',
      'license.activated',
      'license.suspended',
      'license.reinstated',
      'license.banned',
      'license.unbanned',
      'license.renewed',
      'license.extended',
      'license.changed',
      'license.key_rotated',
      'license.tier_changed',
      'license.deleted',
      'license.expiring',
      'license.expired',
      'license.refused',
    ],
  },
  { name: 'licenses', types: ['licenses.extended'] },
  { name: 'device', types: ['device.bound', 'device.moved', 'device.released', 'device.renamed'] },
  { name: 'hwid', types: ['hwid.reset'] },
  { name: 'lease', types: ['lease.issued'] },
  { name: 'ban', types: ['ban.removed'] },
  { name: 'user', types: ['user.created', 'user.registered', 'user.upgraded', 'user.deleted'] },
  { name: 'policy', types: ['policy.applied', 'policy.created', 'policy.changed', 'policy.deleted'] },
  { name: 'application', types: ['application.created', 'application.changed', 'application.deleted'] },
  { name: 'api_key', types: ['api_key.created', 'api_key.changed', 'api_key.rotated', 'api_key.revoked'] },
  {
    name: 'webhook',
    types: [
      'webhook.created',
      'webhook.changed',
      'webhook.deleted',
      'webhook.secret_rotated',
      'webhook.disabled',
    ],
  },
  {
    name: 'account',
    types: [
      'account.changed',
      'account.totp_enabled',
      'account.totp_disabled',
      'account.recovery_codes_renewed',
      'account.sessions_revoked',
    ],
  },
];

/** Stands for all types, those of later versions included. */
export const everyType = '*';

/** Stands for all types that begin so, those of later versions included. */
export const patternOf = (name: string): string => `${name}.*`;

/** Such as "All events" or "license.*, device.moved and 3 more". */
export function typesInWords(types: readonly string[]): string {
  if (types.includes(everyType)) return 'All events';
  const shown = types.slice(0, 2).join(', ');
  return types.length > 2 ? `${shown} and ${types.length - 2} more` : shown;
}
