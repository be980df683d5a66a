import pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { schema } from './session-settings.ts';
import { DatabaseStartError, explainRefusal } from './start-error.ts';

/** What to do about a statement that PostgreSQL refused, by SQLSTATE. */
const advice: ReadonlyMap<string, string> = new Map([
  [
    '42501',
    `The user of DATABASE_URL must own Latchkey's tables, and creates new ones each week: as the database's owner, run ` +
      `GRANT USAGE, CREATE ON SCHEMA ${schema} TO that user; if another user owns the tables, change their owner. With ` +
      'MIGRATE=check, grant it the rights in docs/postgresql.md instead',
  ],
  [
    '25006',
    'The database is read-only (default_transaction_read_only is on, or the server is a standby), and the service must ' +
      'write to it during the start: start the service when the database accepts writes again',
  ],
  ['57014', 'A timeout (statement_timeout) or an operator cancelled it: raise the timeout, or start again'],
  [
    '55P03',
    'Other transactions hold the locks that it needs (lock_timeout): start again when they have ended',
  ],
]);

/**
 * Explains a failed statement to the operator who starts the service. The message is PostgreSQL's own and contains no
 * secret: our statements contain no values.
 * @returns any other error unchanged
 */
export function asStartError(error: unknown): unknown {
  if (error instanceof DatabaseStartError) return error;
  const refusedByDisk = explainRefusal(error);
  if (refusedByDisk !== error) return refusedByDisk;
  if (error instanceof pg.DatabaseError) {
    const { code = 'unknown', message } = error;
    const help = advice.get(code);
    const what = `PostgreSQL refused a statement that the service needs to start: ${message} (SQLSTATE ${code}).`;
    return new DatabaseStartError('statement', help === undefined ? what : `${what} ${help}.`, {
      cause: error,
    });
  }
  if (!isDatabaseUnavailable(error)) return error;
  const message = `The database became unavailable during the start: ${error instanceof Error ? error.message : error}.`;
  return new DatabaseStartError('unreachable', message, { cause: error });
}

/** Runs a start's database work. @throws {DatabaseStartError} for statements that PostgreSQL refuses */
export const explained = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw asStartError(error);
  });
