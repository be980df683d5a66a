import { parentPort, workerData } from 'node:worker_threads';
import { beatMilliseconds, HeldLock, LockLostError, LockUnconfirmedError } from './held-lock.ts';

/**
 * The thread that beats. The main thread may stand still in a long calculation, and the database's in a long
 * statement: neither is a reason to lose the lock.
 */
const lock = new HeldLock(workerData);

setInterval(() => {
  try {
    lock.beat();
  } catch (error) {
    // The next beat may know more. If the lease ends first, the thread that needs it beats, and fails.
    if (error instanceof LockUnconfirmedError) return;
    if (!(error instanceof LockLostError)) throw error;
    parentPort?.postMessage(error.message);
    process.exit(1);
  }
}, beatMilliseconds);
