import type { EventData, NewEvent } from '../outbox/event.ts';
import { type EventType, eventSubjects } from '../outbox/types.ts';
import type { SecurityLogInput } from './entry.ts';
import type { SecurityEvent } from './events.ts';

/** The event that a log entry makes, and the members of the entry's metadata that receivers get. */
interface Mapped {
  readonly type: EventType;
  readonly members: readonly string[];
}

const to = (type: EventType, ...members: readonly string[]): Mapped => ({ type, members });

/**
 * The event of each kind of entry that a change records; null if there is none. What clients do is in the log's buffer, not
 * in a transaction: the events about it are recorded where its effects are written, and refusals by `refusals.ts`.
 */
const eventOf: Readonly<Record<SecurityEvent, Mapped | null>> = {
  developer_registered: null,
  developer_logged_in: null,
  developer_login_failed: null,
  application_created: to('application.created', 'name'),
  application_settings_changed: to(
    'application.changed',
    'version',
    'status',
    'hwidLockEnabled',
    'requireLicenseToRegister',
    'registrationEnabled',
    'protocol',
    'leasesEnabled',
    'leaseDays',
    'responseMessages',
  ),
  application_deleted: to('application.deleted', 'name'),
  licenses_created: to('license.created', 'amount', 'durationSeconds', 'subscriptionTier', 'policyId'),
  licenses_extended: to('licenses.extended', 'seconds', 'extended'),
  license_banned: to('license.banned', 'scope', 'hwid', 'devices', 'ip'),
  license_unbanned: to('license.unbanned', 'removedBans'),
  license_suspended: to('license.suspended', 'reason', 'stopClock'),
  license_reinstated: to('license.reinstated', 'keptSeconds'),
  license_extended: to('license.extended', 'seconds'),
  license_renewed: to('license.renewed', 'seconds', 'basis'),
  license_changed: to('license.changed', 'changed'),
  license_key_rotated: to('license.key_rotated', 'overlapSeconds'),
  license_tier_changed: to('license.tier_changed', 'from', 'to'),
  license_deleted: to('license.deleted', 'keyPrefix'),
  policy_created: to('policy.created', 'code'),
  policy_changed: to('policy.changed', 'fields'),
  policy_deleted: to('policy.deleted', 'code'),
  policy_applied: to('policy.applied', 'policyId', 'code', 'changed'),
  lease_issued: to('lease.issued', 'expiresAt', 'deviceHash'),
  lease_rolled_back: null,
  hwid_reset: to('hwid.reset', 'previousHwid'),
  device_renamed: to('device.renamed', 'previousName', 'name'),
  device_released: to('device.released', 'by', 'name'),
  device_moved: to('device.moved', 'releasedDeviceId', 'by'),
  self_service_refused: null,
  ban_removed: to('ban.removed', 'banType', 'value'),
  user_created: to('user.created', 'username'),
  user_deleted: to('user.deleted'),
  session_refused: null,
  license_validated: null,
  user_registered: null,
  user_logged_in: null,
  user_upgraded: null,
  api_key_created: to('api_key.created', 'name'),
  api_key_changed: to('api_key.changed', 'changed'),
  api_key_rotated: to('api_key.rotated', 'overlapSeconds'),
  api_key_revoked: to('api_key.revoked'),
  account_changed: to('account.changed', 'changed'),
  account_exported: null,
  totp_failed: null,
  totp_enabled: to('account.totp_enabled'),
  totp_disabled: to('account.totp_disabled', 'byOperator'),
  recovery_code_used: null,
  recovery_codes_renewed: to('account.recovery_codes_renewed'),
  sessions_revoked: to('account.sessions_revoked', 'revoked'),
  webhook_created: to('webhook.created', 'webhookId'),
  webhook_changed: to('webhook.changed', 'webhookId', 'changed'),
  webhook_deleted: to('webhook.deleted', 'webhookId'),
  webhook_secret_rotated: to('webhook.secret_rotated', 'webhookId'),
  webhook_disabled: to('webhook.disabled', 'webhookId', 'reason'),
};

/** The events of a log entry: usually one. */
export function eventsOf(entry: SecurityLogInput): NewEvent[] {
  const mapped = eventOf[entry.event];
  if (mapped === null) return [];
  const { eventData = {} } = entry;
  return [eventData].flat().map((more) => eventBy(mapped, entry, more));
}

function eventBy({ type, members }: Mapped, entry: SecurityLogInput, more: EventData): NewEvent {
  const { metadata = {}, developerId } = entry;
  const kind = eventSubjects[type];
  // The entry of a deletion belongs to the account.
  const applicationId = entry.applicationId ?? textOf(metadata.applicationId);
  const data: EventData = {
    ...(kind !== 'license' && entry.licenseId != null && { licenseId: entry.licenseId }),
    ...(kind !== 'user' && entry.userId != null && { userId: entry.userId }),
    ...(kind === 'device' && entry.hwid != null && { hwid: entry.hwid }),
    ...Object.fromEntries(members.flatMap((name) => (name in metadata ? [[name, metadata[name]]] : []))),
    ...more,
  };
  const subjectId = (): string | null => {
    switch (kind) {
      case 'account':
        return developerId;
      case 'api_key':
        return textOf(metadata.apiKeyId);
      case 'application':
        return applicationId;
      case 'ban':
        return textOf(data.banId);
      case 'device':
        return textOf(metadata.deviceId);
      case 'license':
        return entry.licenseId ?? null;
      case 'policy':
        return textOf(metadata.policyId);
      case 'user':
        return entry.userId ?? null;
      case 'webhook':
        return textOf(data.webhookId);
    }
  };
  return { developerId, applicationId, type, subjectId: subjectId(), data };
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
