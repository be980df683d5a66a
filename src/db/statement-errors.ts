import { EventEmitter } from 'node:events';
import pg from 'pg';
import { createLabelledCounter, type LabelledCounter } from '../telemetry/labelled-counter.ts';

/** Names of SQLSTATE classes (PostgreSQL, appendix A) that may occur. */
const classes: ReadonlyMap<string, string> = new Map([
  ['08', 'connection'],
  ['22', 'data'],
  ['23', 'constraint'],
  ['25', 'transaction_state'],
  ['28', 'authorization'],
  ['40', 'rolled_back'],
  ['42', 'syntax_or_access'],
  ['53', 'resources'],
  ['54', 'limits'],
  ['55', 'object_in_use'],
  ['57', 'operator'],
  ['58', 'system'],
  ['XX', 'internal'],
]);

/**
 * Counts the errors of PostgreSQL by class, for all statements. Some are expected, such as a constraint that rejects a
 * duplicate.
 */
export function countStatementErrors(pool: pg.Pool): LabelledCounter {
  const errors = createLabelledCounter([...classes.values()]);
  onStatementError(pool, (error) => {
    errors.add(classes.get(error.code?.slice(0, 2) ?? '') ?? 'other');
  });
  return errors;
}

/**
 * Calls `listener` for every error of PostgreSQL in any statement. It listens on the connections themselves, so successful
 * statements have no overhead.
 */
export function onStatementError(pool: pg.Pool, listener: (error: pg.DatabaseError) => void): void {
  const observed = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (observed.has(client)) return;
    observed.add(client);
    if (!('connection' in client) || !(client.connection instanceof EventEmitter)) return;
    client.connection.on('errorMessage', (error: unknown) => {
      if (error instanceof pg.DatabaseError) listener(error);
    });
  });
}
