import { DatabaseStartError } from '../db/start-error.ts';
import { CommandError } from './failure.ts';

/**
 * Opens a database for a command. If a running service holds the embedded database, the error says what to do.
 * @param task the operator's task as an imperative, such as `rotate the secret`
 * @throws {CommandError} when the database is locked
 */
export async function adviseOnLock<Opened>(task: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof DatabaseStartError) || error.problem !== 'locked') throw error;
    throw new CommandError(
      `${error.message.split('. ')[0]}. Stop the service, ${task}, and start it again. (With a PostgreSQL server, the ` +
        'service can keep running.)',
      { cause: error },
    );
  }
}
