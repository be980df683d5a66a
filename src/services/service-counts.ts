import { rateLimitDefaults } from '../ephemeral/rate-limits.ts';
import { plaintextErrorStatus, verdictCodes } from '../protocol/messages.ts';
import { createTally, type Tally } from '../telemetry/tally.ts';

/** What client software asks for. */

export type ClientVerbName = 'session_init' | 'validate' | 'register' | 'login' | 'upgrade';

/** What the services count as it happens; everything else is known where it is, and read there. */
export interface ServiceCounts {
  /** By code. */
  readonly verdicts: Readonly<Record<ClientVerbName, Tally>>;
  /** Refusals before a session or an envelope is trusted, replays among them; by code. */
  readonly protocolRefusals: Tally;
  /** Requests over a limit, by its name. */
  readonly rateLimited: Tally;
  /** Transactions whose COMMIT was on its way when the connection was lost. */
  doubtfulCommits: number;
}

export const createServiceCounts = (): ServiceCounts => ({
  verdicts: {
    session_init: createTally(verdictCodes),
    validate: createTally(verdictCodes),
    register: createTally(verdictCodes),
    login: createTally(verdictCodes),
    upgrade: createTally(verdictCodes),
  },
  protocolRefusals: createTally(Object.keys(plaintextErrorStatus)),
  rateLimited: createTally(Object.keys(rateLimitDefaults)),
  doubtfulCommits: 0,
});
