import { plaintextErrorStatus } from '../protocol/messages.ts';
import { callErrorStatus } from '../protocol/v2/messages.ts';

/** HTTP statuses of both versions of the protocol. */
const statuses = { ...callErrorStatus, ...plaintextErrorStatus };
type PlaintextErrorCode = keyof typeof statuses;

/** An error that cannot be sealed, because the session, envelope or key is not trusted yet (SPEC §11). */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly code: PlaintextErrorCode;

  constructor(code: PlaintextErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  /** The HTTP status of the code. */
  get status(): (typeof statuses)[PlaintextErrorCode] {
    return statuses[this.code];
  }
}

/** The session has expired, is forged, or its application was deleted. A client finds out which by opening a new one. */
export const sessionExpired = () =>
  new ProtocolError('SESSION_EXPIRED', 'This session has expired. Open a new one with /session/init.');
