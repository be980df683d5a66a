import type { SecurityEvent } from '../generated/graphql.ts';
import type { EntryWords } from './entry-words.ts';
import { count, duration, names, text } from './metadata.ts';

/** What happens to an account, its applications, policies, API keys and webhooks. */
export const accountTexts = {
  account_changed: { label: 'Account changed', detail: names('changed') },
  account_exported: { label: 'Account exported' },
  api_key_changed: { label: 'API key changed', detail: names('changed') },
  api_key_created: { label: 'API key created', detail: text('name') },
  api_key_revoked: { label: 'API key revoked', detail: text('name') },
  api_key_rotated: {
    label: 'API key rotated',
    detail: duration('overlapSeconds', 'the old one stays good for '),
  },
  application_created: { label: 'Application created', detail: text('name') },
  application_deleted: { label: 'Application deleted', detail: text('name') },
  application_settings_changed: { label: 'Settings changed', detail: names() },
  developer_logged_in: { label: 'Signed in' },
  developer_login_failed: { label: 'Wrong password entered' },
  developer_registered: { label: 'Account created' },
  policy_changed: { label: 'Policy changed', detail: names('fields') },
  policy_created: { label: 'Policy created', detail: text('code') },
  policy_deleted: { label: 'Policy deleted', detail: text('code') },
  recovery_code_used: {
    label: 'Recovery code used',
    detail: count('left', 'code is left', 'codes are left'),
  },
  recovery_codes_renewed: { label: 'Recovery codes replaced' },
  sessions_revoked: { label: 'Sessions ended', detail: count('revoked', 'session', 'sessions') },
  totp_disabled: {
    label: 'Sign-in codes turned off',
    detail: ({ byOperator }) => (byOperator === true ? 'by the operator' : null),
  },
  totp_enabled: { label: 'Sign-in codes turned on' },
  totp_failed: { label: 'Wrong sign-in code entered' },
  webhook_changed: { label: 'Webhook changed', detail: names('changed') },
  webhook_created: { label: 'Webhook created' },
  webhook_deleted: { label: 'Webhook deleted' },
  webhook_disabled: { label: 'Webhook disabled by the service', detail: text('reason') },
  webhook_secret_rotated: { label: 'Signing secret of a webhook replaced' },
} as const satisfies Partial<Record<SecurityEvent, EntryWords>>;
