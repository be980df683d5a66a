import { sessionLifetimeSeconds } from '../protocol/constants.ts';
import { untilAborted } from './deadline.ts';
import type { Failure } from './failure.ts';
import type { Session } from './handshake.ts';

/** Renewed this long before its end, so that no request is under way when a session ends (SPEC §9). */
const renewalMarginSeconds = 60;
const usableMs = (sessionLifetimeSeconds - renewalMarginSeconds) * 1000;

interface Opening {
  readonly outcome: Promise<Session | Failure>;
  readonly controller: AbortController;
  waiting: number;
}

export interface SessionHolder {
  /**
   * The session in use, or a new one. Calls that come while one is being opened share it; each leaves when its
   * own signal aborts (then this rejects with the signal's reason), and the handshake ends with the last to leave.
   */
  acquire(signal: AbortSignal): Promise<Session | Failure>;
  /** Uses this session no more. Does nothing where another one has taken its place. */
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
          // Nobody joins a handshake that is about to be aborted.
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

/** False too for a session from the future: the clock was set back, and its age is no longer known. */
function isUsable(session: Session, now: number): boolean {
  const age = now - session.openedAt;
  return age >= 0 && age < usableMs;
}
