import type { WantedIndex } from './build-indexes.ts';

/**
 * For lists that are asked for what is rare in them: the newest of one status are read in order, and so are those of
 * one tier. Those of licenses that expire, and of the log's rare entries, hold no more than what they are for.
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
    definition: `btree (application_id, expires_at) WHERE status = 'active' AND expires_at IS NOT NULL`,
  },
];
