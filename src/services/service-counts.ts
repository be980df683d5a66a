import { rateLimitDefaults } from '../ephemeral/rate-limits.ts';
import { plaintextErrorStatus, verdictCodes } from '../protocol/messages.ts';
import { createLabelledCounter, type LabelledCounter } from '../telemetry/labelled-counter.ts';

/** What client software asks for. */

export type ClientVerbName = 'session_init' | 'validate' | 'register' | 'login' | 'upgrade';

/** What the services count as it happens; everything else is known where it is, and read there. */
export interface ServiceCounts {
  /** By code. */
  readonly verdicts: Readonly<Record<ClientVerbName, LabelledCounter>>;
  /** Refusals before a session or an envelope is trusted, replays among them; by code. */
  readonly protocolRefusals: LabelledCounter;
  /** Requests over a limit, by its name. */
  readonly rateLimited: LabelledCounter;
  /** Transactions whose COMMIT was on its way when the connection was lost. */
  ambiguousCommits: number;
}

export const createServiceCounts = (): ServiceCounts => ({
  verdicts: {
    session_init: createLabelledCounter(verdictCodes),
    validate: createLabelledCounter(verdictCodes),
    register: createLabelledCounter(verdictCodes),
    login: createLabelledCounter(verdictCodes),
    upgrade: createLabelledCounter(verdictCodes),
  },
  protocolRefusals: createLabelledCounter(Object.keys(plaintextErrorStatus)),
  rateLimited: createLabelledCounter(Object.keys(rateLimitDefaults)),
  ambiguousCommits: 0,
});
