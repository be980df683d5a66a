import type { WantedIndex } from './build-indexes.ts';

/**
 * For lists that are asked for what is rare in them: the newest of one status are read in order, and so are those of
 * one tier. Metrics count those that expire in an hour by the last.
 */
export const listIndexes: readonly WantedIndex[] = [
  {
    name: 'licenses_application_id_status_id_idx',
    table: 'licenses',
    definition: 'btree (application_id, status, id)',
  },
  {
    name: 'licenses_application_id_subscription_tier_id_idx',
    table: 'licenses',
    definition: 'btree (application_id, subscription_tier, id)',
  },
  {
    name: 'licenses_application_id_expires_at_idx',
    table: 'licenses',
    definition: 'btree (application_id, expires_at) INCLUDE (status) WHERE expires_at IS NOT NULL',
  },
];
