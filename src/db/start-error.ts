import pg from 'pg';
import { isRefusedByDisk } from './errors.ts';

/** Why the database could not be opened: a stable name for programs. */
export type DatabaseStartProblem =
  | 'unreachable'
  | 'authentication'
  | 'tls'
  | 'refused'
  | 'too-old'
  | 'settings'
  | 'schema'
  | 'encoding'
  | 'statement'
  | 'newer-database'
  | 'pending-migrations'
  | 'failed-migration'
  | 'changed-migration'
  | 'log-in-use'
  | 'log-detached'
  | 'other-major-version'
  | 'locked'
  | 'not-writable'
  | 'not-started'
  | 'damaged';

/** The service cannot start on this database. The message says what is wrong, where, and what to do. */
export class DatabaseStartError extends Error {
  override readonly name = 'DatabaseStartError';
  readonly problem: DatabaseStartProblem;
  constructor(problem: DatabaseStartProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.problem = problem;
  }
}

/**
 * Explains to the operator that the disk rejected a write that a start needs, such as a migration.
 * @returns any other error unchanged
 */
export function explainRefusal(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || !isRefusedByDisk(error.code ?? '', error.message)) return error;
  return new DatabaseStartError(
    'not-writable',
    `The disk of the database rejected a write that a start needs: ${error.message}. Free some space there, delete files ` +
      'if it has no free inodes (df -i), or remount it as writable, and start again. No data is inconsistent.',
    { cause: error },
  );
}
