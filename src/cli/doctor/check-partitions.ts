import type { Pool } from 'pg';
import type { LogPartitionUnit } from '../../db/log-partition.ts';
import { detachedOf, readLogPartitions } from '../../db/log-partition-catalog.ts';
import { coveredUntil, gapAt } from '../../db/log-partition-plan.ts';
import type { MigrateMode } from '../../db/schema-upkeep.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');

/** How long before they end a warning begins. */
const aheadMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** Whether the log has partitions for the present and the next week. */
export async function checkPartitions(
  pool: Pool,
  unit: LogPartitionUnit,
  migrate: MigrateMode,
): Promise<Finding> {
  const now = Date.now();
  const existing = await readLogPartitions(pool);
  const until = coveredUntil(now, existing);
  const gap = until < now + aheadMilliseconds ? gapAt(until, unit, existing) : null;
  if (gap !== null) {
    const { name, from, to } = gap;
    if ((await detachedOf(pool, [gap])).length > 0) {
      return fail(
        `The security log has no partition for a ${unit}: the table ${name} exists but is not attached. Attach it with ` +
          `ALTER TABLE security_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}'); or rename the table. ` +
          (migrate === 'check'
            ? 'Until then, entries go to the default partition, where they cost more.'
            : `Otherwise the service will not start in that ${unit}.`),
      );
    }
    return warn(
      migrate === 'check'
        ? `The security log has no partition ${name}: run "latchkey migrate", and then once a day.`
        : `The security log has no partition ${name}: the next start creates it. If the service is running, its log says ` +
            'why it has not.',
    );
  }
  const { rows } = await pool.query<{ stray: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM security_log_default) AS stray',
  );
  return rows[0]?.stray === true
    ? warn('The security log has entries in its default partition: the clock of an instance was weeks ahead.')
    : ok('The security log has its partitions, and its default partition is empty');
}
