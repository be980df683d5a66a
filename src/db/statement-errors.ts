import { EventEmitter } from 'node:events';
import pg from 'pg';
import { createTally, type Tally } from '../telemetry/tally.ts';

/** Classes of SQLSTATE (PostgreSQL, appendix A) that an operator may meet, in words. */
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
 * Counts what PostgreSQL answers with an error, by class, whoever asked: on the connections themselves, so that a
 * statement that succeeds costs nothing. Some are in order, such as a constraint that refuses a second of a kind.
 */
export function countStatementErrors(pool: pg.Pool): Tally {
  const errors = createTally([...classes.values()]);
  const heard = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    if (!('connection' in client) || !(client.connection instanceof EventEmitter)) return;
    client.connection.on('errorMessage', (error: unknown) => {
      const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
      errors.add(classes.get(code.slice(0, 2)) ?? 'other');
    });
  });
  return errors;
}
