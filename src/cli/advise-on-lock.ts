import { DatabaseStartError } from '../db/start-error.ts';
import { CommandError } from './failure.ts';

/**
 * Opens a database for a command; where a running service has it, says what to do about that.
 * @param task what the operator wants, as `rotate the secret`
 * @throws {CommandError}
 */
export async function adviseOnLock<Opened>(task: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof DatabaseStartError) || error.problem !== 'locked') throw error;
    throw new CommandError(
      `${error.message.split('. ')[0]}. Stop the service, ${task}, and start it again; on a PostgreSQL server that can ` +
        'be done while the service runs.',
      { cause: error },
    );
  }
}
