/** What a backup holds: parents before those who refer to them, the order in which rows can be inserted. */
export const dataTables = [
  'developers',
  'api_keys',
  'applications',
  'licenses',
  'end_users',
  'end_user_sessions',
  'bans',
  'security_log',
] as const;

/**
 * What a backup leaves out, and a restored database has all the same: counts and search data, which triggers make anew
 * of the rows that are inserted, notes for instances that are running, and a mint that is not done.
 */
export const derivedTables = [
  'cache_changes',
  'license_count_changes',
  'license_counts',
  'log_search_backlog',
  'log_search_blocks',
  'log_search_values',
  'mint_under_way',
  'validation_counts',
] as const;

/** What belongs to a database and not to its data: a backup leaves it out, and a restore leaves it as it is. */
export const ownTables = ['clock_notes', 'installation'] as const;
