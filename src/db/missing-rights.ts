import type pg from 'pg';
import { schema } from './session-settings.ts';

export interface MissingRights {
  /** The role of this connection, quoted for SQL. */
  readonly user: string;
  readonly tables: readonly string[];
}

/**
 * Tables and sequences that this role cannot use. Latchkey's are those of the owner of the history. Rights on a
 * partitioned table include its partitions, except where a statement names one: the service names the DEFAULT one.
 * @returns null if the role may use all of them
 */
export async function findMissingRights(pool: pg.Pool): Promise<MissingRights | null> {
  const { rows } = await pool.query<{ user: string; name: string }>(
    `SELECT quote_ident(current_user) AS user, relname AS name FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'S')
       AND relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('_prisma_migrations'))
       AND (NOT relispartition OR relname = 'security_log_default')
       AND NOT CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE')
         WHEN relname = '_prisma_migrations' THEN has_table_privilege(oid, 'SELECT')
         ELSE has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
           AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') END
     ORDER BY relname`,
    [schema],
  );
  const [first] = rows;
  return first === undefined ? null : { user: first.user, tables: rows.map(({ name }) => name) };
}

/** What is missing and the statements that grant it. */
export const describeMissingRights = ({ user, tables }: MissingRights): string =>
  `The user ${user} may not read and write ${tables.join(', ')}: as their owner, run GRANT SELECT, INSERT, UPDATE, DELETE ON ` +
  `ALL TABLES IN SCHEMA ${schema} TO ${user}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}. ` +
  'docs/postgresql.md has the default privileges that do this for later tables.';
