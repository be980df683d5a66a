import { type PlaintextErrorCode, plaintextErrorStatus } from '../protocol/messages.ts';

/** A refusal that cannot be sealed, because it comes before the session or the envelope is trusted (SPEC §11). */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: PlaintextErrorCode;

  constructor(code: PlaintextErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** The HTTP status that goes with the code. */
  get status(): (typeof plaintextErrorStatus)[PlaintextErrorCode] {
    return plaintextErrorStatus[this.code];
  }
}

/** The session is over, or was never ours, or its application is gone: a client opens a new one and learns which. */
export const sessionExpired = () =>
  new ProtocolError('SESSION_EXPIRED', 'This session has expired. Open a new one with /session/init.');
