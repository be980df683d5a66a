/** How often a failure that goes on is logged again, in milliseconds. */
const interval = 60_000;

/** Keeps work that is tried again and again from filling the log during an outage. */
export interface FailureLog {
  /** Calls `write` for the first failure after a success, and once a minute while failures go on. */
  failed(write: () => void): void;
  succeeded(): void;
}

export function createFailureLog(): FailureLog {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    failed(write) {
      if (performance.now() - loggedAt < interval) return;
      loggedAt = performance.now();
      write();
    },
    succeeded() {
      loggedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
