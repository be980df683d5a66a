import type pg from 'pg';
import { buildIndexes, type WantedIndex } from './build-indexes.ts';

/**
 * Indexes for license lists that are filtered by a rare status, tier or policy and sorted by newest first. Metrics use
 * that of the expiry to count the licenses that expire within an hour. The next three find the licenses of an
 * end user who is deleted, and of a device, and those whose expiry is due for an event. By the last one, metrics count
 * first uses without reading other events.
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
  {
    name: 'licenses_application_id_policy_id_id_idx',
    table: 'licenses',
    definition: 'btree (application_id, policy_id, id) WHERE policy_id IS NOT NULL',
  },
  {
    name: 'licenses_owner_user_id_idx',
    table: 'licenses',
    definition: 'btree (owner_user_id) WHERE owner_user_id IS NOT NULL',
  },
  {
    name: 'devices_hwid_idx',
    table: 'devices',
    definition: 'btree (hwid) WHERE released_at IS NULL',
  },
  {
    name: 'licenses_expires_at_id_idx',
    table: 'licenses',
    definition: 'btree (expires_at, id) WHERE expires_at IS NOT NULL',
  },
  {
    name: 'events_activated_idx',
    table: 'events',
    definition: "btree (developer_id, created_at) INCLUDE (application_id) WHERE type = 'license.activated'",
  },
];

/**
 * Indexes for license lists that are filtered by a tag or by metadata. With the extension btree_gin, they include the
 * application: a tag that is rare in one application may be on every license of another. Licenses without tags or
 * metadata are not in them. Each entry goes in at once, because a search reads all that wait.
 */
const filterIndexes = (hasBtreeGin: boolean): readonly WantedIndex[] => {
  const first = hasBtreeGin ? 'application_id, ' : '';
  return [
    {
      name: 'licenses_tags_idx',
      table: 'licenses',
      definition: `gin (${first}tags) WITH (fastupdate = off) WHERE tags <> '{}'`,
    },
    {
      name: 'licenses_metadata_idx',
      table: 'licenses',
      definition: `gin (${first}metadata jsonb_path_ops) WITH (fastupdate = off) WHERE metadata IS NOT NULL`,
    },
  ];
};

/** Builds missing indexes for filters. Call it after `buildSearchIndexes`, which creates the extension if it can. */
export async function buildFilterIndexes(pool: pg.Pool, stop?: AbortSignal): Promise<string[]> {
  const { rows } = await pool.query("SELECT FROM pg_extension WHERE extname = 'btree_gin'");
  return buildIndexes(pool, filterIndexes(rows.length > 0), stop);
}
