import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { buildIndexes } from './build-indexes.ts';
import { buildFilterIndexes, listIndexes } from './list-indexes.ts';
import { buildLogIndexes } from './log-indexes.ts';
import { buildSearchIndexes } from './search-indexes.ts';

/**
 * Who changes the schema. `auto`: the service, so that its role must own the tables. `check`: only `latchkey migrate`; the
 * service runs with a role that may only read and write rows.
 */
export type MigrateMode = 'auto' | 'check';

/** Builds the indexes that migrations leave for later, in this order. Each returns the names of those that it built. */
export const indexBuilders = (
  pool: pg.Pool,
  log: Logger,
  stop?: AbortSignal,
): readonly (() => Promise<string[]>)[] => [
  () => buildLogIndexes(pool, stop),
  () => buildIndexes(pool, listIndexes, stop),
  () => buildSearchIndexes(pool, log, stop),
  () => buildFilterIndexes(pool, stop),
];
