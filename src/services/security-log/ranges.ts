import { Prisma } from '../../db/client.ts';
import { searchedText } from '../../db/search-indexes.ts';
import { containsTextByIndex } from '../search.ts';

/** If more values contain the text, the whole log is searched: starting from the newest entry, a match is found soon. */
const maxValues = 1_000;

/**
 * The ranges of ids that contain all entries of an application with a text: a SELECT of `from_id` and `to_id`, both
 * inclusive and not overlapping, for `parent.id`, a column of the enclosing statement. Null if the trigram index cannot
 * find the text. Some ranges may have no such entry (src/db/log-search).
 */
export function rangesWithText(text: string | undefined): Prisma.Sql | null {
  const isFound = containsTextByIndex(searchedText.log_search_values, text);
  if (isFound === null) return null;
  // A value belongs to one application, and so do the blocks that contain it. With a condition on the application too,
  // PostgreSQL might read all of its blocks.
  return Prisma.sql`
    WITH value AS MATERIALIZED (
      SELECT id FROM log_search_values WHERE application_id = parent.id AND ${isFound} LIMIT ${maxValues + 1}
    ), place AS (
      SELECT from_id, to_id FROM log_search_blocks
      WHERE (SELECT count(*) FROM value) <= ${maxValues} AND value_ids && (SELECT array_agg(id) FROM value)
      UNION ALL
      SELECT from_id, to_id FROM log_search_backlog WHERE application_id = parent.id
      UNION ALL
      SELECT '00000000-0000-0000-0000-000000000000'::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid
      WHERE (SELECT count(*) FROM value) > ${maxValues}
    )
    SELECT lower(range) AS from_id, upper(range) AS to_id
    FROM unnest((SELECT range_agg(id_range(from_id, to_id, '[]')) FROM place)) AS range`;
}
