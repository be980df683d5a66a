/** The tables in a backup, in insertion order: a table follows those that its foreign keys refer to. */
export const dataTables = [
  'developers',
  'api_keys',
  'idempotent_answers',
  'account_sessions',
  'recovery_codes',
  'applications',
  'policies',
  'licenses',
  'previous_license_keys',
  'devices',
  'end_users',
  'end_user_sessions',
  'bans',
  'leases',
  'revocation_counters',
  'security_log',
  'events',
  'event_streams',
  'event_scans',
  'webhooks',
  'webhook_deliveries',
] as const;

/**
 * Tables that a backup leaves out: counts and search data, which triggers derive from the restored rows, change
 * notifications for running instances, unfinished mints, and which counts were added.
 */
export const derivedTables = [
  'added_counts',
  'cache_changes',
  'license_count_changes',
  'license_counts',
  'log_search_backlog',
  'log_search_blocks',
  'log_search_values',
  'mint_under_way',
  'validation_counts',
] as const;

/** Tables about the database itself: a backup leaves them out, and a restore does not change them. */
export const ownTables = ['clock_notes', 'installation', 'service_keys'] as const;
