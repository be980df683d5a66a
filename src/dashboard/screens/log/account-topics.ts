import type { SecurityEvent } from '../../generated/graphql.ts';

/** The kinds of the account's own entries. Those of licenses and users are in the log of their application. */
const topics = {
  signIns: [
    'developer_logged_in',
    'developer_login_failed',
    'developer_registered',
    'totp_failed',
    'recovery_code_used',
    'sessions_revoked',
  ],
  protection: [
    'account_changed',
    'account_exported',
    'totp_enabled',
    'totp_disabled',
    'recovery_codes_renewed',
  ],
  apiKeys: ['api_key_created', 'api_key_changed', 'api_key_rotated', 'api_key_revoked'],
  webhooks: [
    'webhook_created',
    'webhook_changed',
    'webhook_deleted',
    'webhook_disabled',
    'webhook_secret_rotated',
  ],
  applications: [
    'application_created',
    'application_deleted',
    'application_settings_changed',
    'policy_created',
    'policy_changed',
    'policy_deleted',
  ],
} as const satisfies Record<string, readonly SecurityEvent[]>;

export type AccountTopic = keyof typeof topics | 'all';

export const accountTopics: readonly { readonly value: AccountTopic; readonly label: string }[] = [
  { value: 'all', label: 'Everything' },
  { value: 'signIns', label: 'Sign-ins and attempts' },
  { value: 'protection', label: 'Account and its protection' },
  { value: 'apiKeys', label: 'API keys' },
  { value: 'webhooks', label: 'Webhooks' },
  { value: 'applications', label: 'Applications and policies' },
];

export const eventsOfTopic = (topic: AccountTopic): SecurityEvent[] =>
  topic === 'all' ? Object.values(topics).flat() : [...topics[topic]];
