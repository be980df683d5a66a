import { type Database, type DatabaseOptions, openDatabase } from '../../src/db/database.ts';
import type { Logger } from '../../src/lib/log.ts';
import { applyLaterMigrations } from './later-migrations.ts';

/** A database in memory, with the options of the service that uses it now or used it last. */
interface Kept {
  readonly database: Database;
  readonly schema: string;
  options: DatabaseOptions;
}

const kept: Kept[] = [];

/**
 * Opens a database as the service does. An embedded database in memory is emptied instead of closed, and the next service
 * of this process gets it: opening one takes most of a second, emptying one a few milliseconds. A database whose schema a
 * test has changed, or whose connection was lost, is closed.
 */
export const openKeptDatabase: typeof openDatabase = async (address, options) => {
  if (address.kind !== 'memory') return openDatabase(address, options);
  const found = kept.pop();
  if (found !== undefined) found.options = options;
  const opened = found ?? (await openNew(options));
  return { ...opened.database, close: () => leave(opened) };
};

async function openNew(options: DatabaseOptions): Promise<Kept> {
  const current = { options };
  const database = await openDatabase(
    { kind: 'memory' },
    { log: logOf(current), onFatal: (error) => current.options.onFatal?.(error) },
  );
  await applyLaterMigrations(database);
  return Object.assign(current, { database, schema: await schemaOf(database) });
}

async function leave(opened: Kept): Promise<void> {
  const { database, schema } = opened;
  try {
    await database.pool.query(empty);
    if ((await schemaOf(database)) === schema) {
      kept.push(opened);
      return;
    }
  } catch {
    // A test has broken it.
  }
  await database.close();
}

/** Forwards to the log of the service that uses the database now. */
const logOf = (current: { readonly options: DatabaseOptions }): Logger =>
  new Proxy(current.options.log, { get: (_, name) => Reflect.get(current.options.log, name) });

/** Deletes all rows without triggers. Few tables have any, so this is faster than TRUNCATE. */
const empty = `
  DO $$
  DECLARE name regclass;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN
      SELECT oid FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname <> '_prisma_migrations'
    LOOP
      EXECUTE format('DELETE FROM %s', name);
    END LOOP;
  END $$`;

/** Everything that a test could change with DDL: relations, columns, constraints, triggers and functions. */
async function schemaOf({ pool }: Database): Promise<string> {
  const { rows } = await pool.query<{ schema: string }>(`
    SELECT md5(string_agg(item, ', ' ORDER BY item)) AS schema FROM (
      SELECT concat_ws(' ', relname, relkind) FROM pg_class WHERE relnamespace = current_schema()::regnamespace
        AND NOT relispartition AND relkind IN ('r', 'p', 'v', 'm', 'S')
      UNION ALL
      SELECT concat_ws(' ', relname, attname, attnotnull) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      UNION ALL
      SELECT concat_ws(' ', conname, conrelid::regclass, convalidated) FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND conparentid = 0 AND coninhcount = 0
      UNION ALL
      SELECT concat_ws(' ', tgname, tgrelid::regclass, tgenabled) FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0
      UNION ALL
      SELECT concat_ws(' ', proname, md5(prosrc)) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    ) AS items (item)`);
  return rows[0]?.schema ?? '';
}
