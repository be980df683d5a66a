import type { WantedIndex } from './build-indexes.ts';

/**
 * Indexes for license lists that are filtered by a rare status or tier and sorted by newest first. Metrics use the last
 * one to count the licenses that expire within an hour.
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
