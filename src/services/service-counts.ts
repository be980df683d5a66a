import { rateLimitDefaults } from '../ephemeral/rate-limits.ts';
import { plaintextErrorStatus, verdictCodes } from '../protocol/messages.ts';
import { answerCodes, type CallName, callErrorStatus } from '../protocol/v2/messages.ts';
import { createLabelledCounter, type LabelledCounter } from '../telemetry/labelled-counter.ts';

/** Verbs of the client protocol, as a metric label. */
export type ClientVerbName = 'session_init' | CallName;

/** Events that the services count. Other metrics are read from where their values are kept. */
export interface ServiceCounts {
  /** Verdicts per verb and code. */
  readonly verdicts: Readonly<Record<ClientVerbName, LabelledCounter>>;
  /** Signed answers to requests of protocol version 2, by code. */
  readonly callAnswers: LabelledCounter;
  /** Requests refused before their session and envelope were trusted, including replays; by code. */
  readonly protocolRefusals: LabelledCounter;
  /** Requests over a rate limit, by the limit's name. */
  readonly rateLimited: LabelledCounter;
  /** Attempts to send an event to a webhook, by outcome: success or failure. */
  readonly webhookAttempts: LabelledCounter;
  /** Transactions whose connection was lost during COMMIT. */
  ambiguousCommits: number;
}

export const createServiceCounts = (): ServiceCounts => ({
  verdicts: {
    session_init: createLabelledCounter(verdictCodes),
    validate: createLabelledCounter(verdictCodes),
    lease: createLabelledCounter(answerCodes),
    register: createLabelledCounter(verdictCodes),
    login: createLabelledCounter(verdictCodes),
    upgrade: createLabelledCounter(verdictCodes),
    'devices.list': createLabelledCounter(verdictCodes),
    'devices.release': createLabelledCounter(verdictCodes),
    'devices.move': createLabelledCounter(verdictCodes),
  },
  callAnswers: createLabelledCounter(answerCodes),
  protocolRefusals: createLabelledCounter(Object.keys({ ...plaintextErrorStatus, ...callErrorStatus })),
  rateLimited: createLabelledCounter(Object.keys(rateLimitDefaults)),
  webhookAttempts: createLabelledCounter(['success', 'failure']),
  ambiguousCommits: 0,
});
