import { sessionLifetimeSeconds } from '../protocol/constants.ts';
import { untilAborted } from './deadline.ts';
import type { Failure } from './failure.ts';
import type { Session } from './handshake.ts';

/** Sessions are renewed this long before they expire, so that none expires during a request (SPEC §9). */
const renewalMarginSeconds = 60;
const usableMs = (sessionLifetimeSeconds - renewalMarginSeconds) * 1000;

interface Opening {
  readonly outcome: Promise<Session | Failure>;
  readonly controller: AbortController;
  waiting: number;
}

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
  let opening: Opening | null = null;

  function startOpening(): Opening {
    const controller = new AbortController();
    const started: Opening = { outcome: open(controller.signal), controller, waiting: 0 };
    const settle = (session: Session | null) => {
      if (opening !== started) return;
      opening = null;
      current = session;
    };
    started.outcome.then(
      (outcome) => settle(outcome.kind === 'session' ? outcome : null),
      () => settle(null),
    );
    return started;
  }

  return {
    async acquire(signal) {
      if (current !== null && isUsable(current, now())) return current;
      opening ??= startOpening();
      const joined: Opening = opening;
      joined.waiting++;
      try {
        return await untilAborted(joined.outcome, signal);
      } finally {
        joined.waiting--;
        if (joined.waiting === 0) {
          // No later call may join a handshake that is about to be aborted.
          if (opening === joined) opening = null;
          joined.controller.abort();
        }
      }
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
