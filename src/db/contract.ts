/**
 * A migration that removes or narrows what earlier versions use says so in a line of its SQL:
 *
 *     -- contract: 20261124101100_limit_what_api_keys_open
 *
 * It names a migration. Code that does not know that migration cannot run on the database any more. Other migrations are
 * additive: every version that knows an earlier state runs on the later one. docs/operating.md has the rules.
 */
const header = /^-- contract: (\S+)$/m;

/** The migration that code must know after this one; null if this one is additive. */
export const contractOf = (sql: string): string | null => header.exec(sql)?.[1] ?? null;

/**
 * What the history keeps of a contract, in a column that Prisma uses only for migrations that failed. The database thus
 * records the oldest code that may run on it, in the transaction that makes it so.
 */
export const contractNote = (sql: string): string | null => header.exec(sql)?.[0] ?? null;

/** The migration that a note in the history names. */
export const contractIn = (note: string | null): string | null => (note === null ? null : contractOf(note));
