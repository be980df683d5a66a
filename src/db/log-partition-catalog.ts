import pg from 'pg';
import type { LogPartition } from './log-partition.ts';
import type { ExistingPartition } from './log-partition-plan.ts';

/** Reads the partitions of the log, without the DEFAULT one, with the ranges that PostgreSQL has for them. */
export async function readLogPartitions(client: pg.Pool | pg.ClientBase): Promise<ExistingPartition[]> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bound
     FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'security_log'::regclass ORDER BY 1`,
  );
  return rows.flatMap(({ name, bound }) => {
    const [, from, to] = /^FOR VALUES FROM \((.+)\) TO \((.+)\)$/.exec(bound) ?? [];
    if (from === undefined || to === undefined) return [];
    return [
      {
        name,
        start: timeOf(from, Number.NEGATIVE_INFINITY),
        end: timeOf(to, Number.POSITIVE_INFINITY),
      },
    ];
  });
}

/** The time in a quoted UUIDv7 (RFC 9562 §5.7). An administrator may have used MINVALUE or MAXVALUE instead. */
function timeOf(bound: string, otherwise: number): number {
  const [, high, low] = /^'([0-9a-f]{8})-([0-9a-f]{4})-/.exec(bound) ?? [];
  return high === undefined ? otherwise : Number.parseInt(`${high}${low}`, 16);
}

/** Which of these tables have rows. */
export async function namesWithRows(
  client: pg.Pool | pg.ClientBase,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of names) {
    const { rowCount } = await client.query(`SELECT FROM ${pg.escapeIdentifier(name)} LIMIT 1`);
    if (rowCount !== 0) found.add(name);
  }
  return found;
}

/** Which of these names tables have, attached to the log or not. */
export async function takenNames(
  client: pg.Pool | pg.ClientBase,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS wanted (name) WHERE to_regclass(name) IS NOT NULL',
    [names],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Partitions whose tables exist but are not attached to the log. */
export async function detachedOf(
  client: pg.Pool | pg.ClientBase,
  partitions: readonly LogPartition[],
): Promise<LogPartition[]> {
  const found = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS wanted (name)
     WHERE to_regclass(name) IS NOT NULL AND NOT EXISTS (
       SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name) AND inhparent = 'security_log'::regclass)`,
    [partitions.map(({ name }) => name)],
  );
  const names = new Set(found.rows.map(({ name }) => name));
  return partitions.filter(({ name }) => names.has(name));
}
