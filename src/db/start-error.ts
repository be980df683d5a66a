/** Why the database could not be opened: a stable word for tests and for the exit message. */
export type DatabaseStartProblem =
  | 'unreachable'
  | 'authentication'
  | 'refused'
  | 'too-old'
  | 'newer-database'
  | 'failed-migration'
  | 'changed-migration'
  | 'log-in-use'
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
