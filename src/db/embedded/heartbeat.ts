import { parentPort, workerData } from 'node:worker_threads';
import { beatMilliseconds, HeldLock, LockLostError, LockUnconfirmedError } from './held-lock.ts';

/**
 * The heartbeat thread. A long calculation can block the main thread, and a long statement the database thread, but
 * neither may cost the lock.
 */
const lock = new HeldLock(workerData);

setInterval(() => {
  try {
    lock.beat();
  } catch (error) {
    // The next beat may succeed. If the lease ends first, the thread that needs the lock beats itself, and fails.
    if (error instanceof LockUnconfirmedError) return;
    if (!(error instanceof LockLostError)) throw error;
    parentPort?.postMessage(error.message);
    process.exit(1);
  }
}, beatMilliseconds);
