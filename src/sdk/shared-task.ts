import { untilAborted } from './deadline.ts';

interface Run<Result> {
  readonly outcome: Promise<Result>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Shares one run of a task between the calls that need its result at the same time. A call whose signal aborts rejects with
 * the signal's reason; the run is aborted when the last waiting call leaves.
 * @param task its signal aborts if no call waits for it; what it then returns is not used
 */
export function shareTask<Result>(
  task: (signal: AbortSignal) => Promise<Result>,
): (signal: AbortSignal) => Promise<Result> {
  let running: Run<Result> | null = null;

  function start(): Run<Result> {
    const controller = new AbortController();
    const run: Run<Result> = { outcome: task(controller.signal), controller, waiting: 0 };
    const settle = () => {
      if (running === run) running = null;
    };
    run.outcome.then(settle, settle);
    return run;
  }

  return async (signal) => {
    running ??= start();
    const joined = running;
    joined.waiting++;
    try {
      return await untilAborted(joined.outcome, signal);
    } finally {
      joined.waiting--;
      if (joined.waiting === 0) {
        // No later call may join a run that is about to be aborted.
        if (running === joined) running = null;
        joined.controller.abort();
      }
    }
  };
}
