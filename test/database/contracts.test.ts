import { expect, test } from 'vitest';
import { contractOf } from '../../src/db/contract.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';

/**
 * The previous release runs on the schema of the next one, so a migration only adds, or says what it requires. This reads
 * the SQL of the migrations: see "Expand, then contract" in docs/operating.md.
 */

/** Versions with only these migrations refuse every later one. */
const lastRefusing = '20261124101100_limit_what_api_keys_open';

/** Statements after which the previous release may fail. */
const narrowing: readonly RegExp[] = [
  /\bDROP\s+(TABLE|COLUMN|INDEX|CONSTRAINT|DEFAULT|FUNCTION|TRIGGER|TYPE|SEQUENCE|VIEW|SCHEMA|EXPRESSION|IDENTITY)\b/i,
  /\bRENAME\b/i,
  /\bALTER\s+(COLUMN\s+)?\S+\s+(SET\s+DATA\s+)?TYPE\b/i,
  /\bSET\s+NOT\s+NULL\b/i,
  /\bADD\s+COLUMN\s+(?![^,;]*\b(DEFAULT|GENERATED)\b)[^,;]*\bNOT\s+NULL\b/i,
  /\bADD\s+(CONSTRAINT\s+\S+\s+)?(CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b/i,
  /\bCREATE\s+UNIQUE\s+INDEX\b/i,
  /\b(REVOKE|TRUNCATE)\b/i,
];

/** The statements of a migration that narrow what exists: not what it creates itself, or drops to create it anew. */
function narrowingIn(sql: string): string[] {
  const code = sql.replaceAll(/--.*$/gm, '');
  const created = [...code.matchAll(/\bCREATE\s+TABLE\s+"?(\w+)"?/gi)].map(([, name]) => name);
  return withoutBodies(code)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => narrowing.some((each) => each.test(statement)))
    .filter((statement) => {
      const [, table] = /\b(?:ALTER\s+TABLE|ON)\s+(?:ONLY\s+)?"?(\w+)"?/i.exec(statement) ?? [];
      return table === undefined || !created.includes(table);
    })
    .filter((statement) => {
      const [, kind, name] =
        /^DROP\s+(TRIGGER|FUNCTION)\s+(?:IF\s+EXISTS\s+)?("?\w+"?)/i.exec(statement) ?? [];
      return (
        kind === undefined || !new RegExp(`CREATE\\s+(OR\\s+REPLACE\\s+)?${kind}\\s+${name}`, 'i').test(code)
      );
    });
}

/** The body of a function is not run by the migration. */
const withoutBodies = (sql: string): string => sql.replaceAll(/(\$\w*\$)[\s\S]*?\1/g, "''");

/** A migration that only looks as if it narrowed: `-- additive: <why>`. */
const isExcused = (sql: string): boolean => /^-- additive: \S+ \S+/m.test(sql);

const undeclared = ({ sql }: Pick<Migration, 'sql'>): string[] =>
  contractOf(sql) !== null || isExcused(sql) ? [] : narrowingIn(sql);

test('a migration that narrows the schema says which migration code must know', async () => {
  const later = (await readMigrations()).filter(({ name }) => name > lastRefusing);
  expect(later.flatMap((each) => undeclared(each).map((statement) => [each.name, statement]))).toEqual([]);
});

test('a contract names an earlier migration, in one line of the form that is read', async () => {
  const migrations = await readMigrations();
  for (const { name, sql } of migrations) {
    const claims = sql.match(/^\W*contract\b.*$/gim) ?? [];
    expect(claims.length, `${name}: ${claims.join()}`).toBe(contractOf(sql) === null ? 0 : 1);
    const needed = contractOf(sql);
    if (needed !== null)
      expect(migrations.filter((each) => each.name < name).map((each) => each.name)).toContain(needed);
  }
});

test.each(['\n\n', '\nBEGIN;\n', '\r\n', '\n', ''])('a contract ends with its line: %j', (rest) => {
  expect(contractOf(`-- Why\n-- contract: 20261124101100_limit_what_api_keys_open${rest}`)).toBe(
    '20261124101100_limit_what_api_keys_open',
  );
});

test.each([
  'DROP TABLE licenses',
  'ALTER TABLE "licenses" DROP COLUMN "note"',
  'ALTER TABLE licenses RENAME COLUMN note TO remark',
  'ALTER TABLE "licenses" ALTER COLUMN "note" TYPE JSONB',
  'ALTER TABLE licenses ALTER note SET DATA TYPE JSONB',
  'ALTER TABLE licenses ALTER COLUMN note SET NOT NULL',
  'ALTER TABLE licenses ALTER COLUMN note DROP DEFAULT',
  'ALTER TABLE licenses ADD COLUMN more TEXT NOT NULL',
  'ALTER TABLE licenses ADD COLUMN one TEXT, ADD COLUMN more TEXT NOT NULL',
  'ALTER TABLE licenses ADD CONSTRAINT short CHECK (length(note) < 9)',
  'CREATE UNIQUE INDEX licenses_note_key ON licenses (note)',
  'DROP TRIGGER licenses_count ON licenses',
])('%s must be declared', (sql) => {
  expect(undeclared({ sql: `${sql};` })).toEqual([sql]);
  expect(undeclared({ sql: `-- contract: 20261124101100_limit_what_api_keys_open\n${sql};` })).toEqual([]);
  expect(undeclared({ sql: `-- additive: nothing uses it\n${sql};` })).toEqual([]);
});

test.each([
  'ALTER TABLE licenses ADD COLUMN more TEXT',
  "ALTER TABLE licenses ADD COLUMN more TEXT NOT NULL DEFAULT ''",
  'CREATE TABLE a (id INT NOT NULL); CREATE UNIQUE INDEX a_key ON a (id); ALTER TABLE a ADD CONSTRAINT b CHECK (id > 1)',
  'DROP TRIGGER "t" ON "a"; CREATE TRIGGER "t" AFTER INSERT ON "a" EXECUTE FUNCTION f()',
  'CREATE OR REPLACE FUNCTION f() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$',
  '-- A later migration will DROP TABLE licenses\nCREATE TABLE a (id INT)',
])('%s is additive', (sql) => {
  expect(undeclared({ sql: `${sql};` })).toEqual([]);
});
