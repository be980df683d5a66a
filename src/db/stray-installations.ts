import type pg from 'pg';
import { schema } from './session-settings.ts';

/** Tables of Latchkey. Other software is unlikely to have all of them. */
const characteristicTables = ['_prisma_migrations', 'licenses', 'security_log'];

/**
 * Other schemas with Latchkey's tables, quoted for SQL. Their contents are not used. The lookup uses the table names, which
 * PostgreSQL has an index on: there may be thousands of schemas, and a start waits for this.
 */
export async function strayInstallations(client: pg.Pool | pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(nspname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relname = ANY($1::name[]) AND relkind IN ('r', 'p') AND nspname <> $2
     GROUP BY nspname HAVING count(*) = $3 ORDER BY nspname`,
    [characteristicTables, schema, characteristicTables.length],
  );
  return rows.map(({ name }) => name);
}
