import { sessionLifetimeSeconds } from '../protocol/constants.ts';
import type { Failure } from './failure.ts';
import type { Session } from './handshake.ts';
import { shareTask } from './shared-task.ts';

/** Sessions are renewed this long before they expire, so that none expires during a request (SPEC §9). */
const renewalMarginSeconds = 60;
const usableMs = (sessionLifetimeSeconds - renewalMarginSeconds) * 1000;

export interface SessionHolder {
  /**
   * Returns the current session or opens a new one. Concurrent calls share one handshake. A call whose signal aborts
   * rejects with the signal's reason; the handshake is aborted when the last waiting call leaves.
   */
  acquire(signal: AbortSignal): Promise<Session | Failure>;
  /** Stops using this session. No effect if another one has replaced it. */
  discard(session: Session): void;
}

export function createSessionHolder(
  open: (signal: AbortSignal) => Promise<Session | Failure>,
  now: () => number,
): SessionHolder {
  let current: Session | null = null;
  const openShared = shareTask(async (signal) => {
    const outcome = await open(signal);
    if (!signal.aborted) current = outcome.kind === 'session' ? outcome : null;
    return outcome;
  });
  return {
    async acquire(signal) {
      if (current !== null && isUsable(current, now())) return current;
      return openShared(signal);
    },
    discard(session) {
      if (current === session) current = null;
    },
  };
}

/** False also for a session from the future: the clock was set back, so the session's age is unknown. */
function isUsable(session: Session, now: number): boolean {
  const age = now - session.openedAt;
  return age >= 0 && age < usableMs;
}
