import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Loaded into the service ahead of its program: tells its parent what memory it holds once garbage is collected, and
 * how many handles keep its event loop busy. */
if (isMainThread && process.send !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('message', () => {
    collect();
    process.send?.({ ...process.memoryUsage(), handles: process.getActiveResourcesInfo().length });
  });
  // Asking is no reason to go on.
  process.channel?.unref();
}
