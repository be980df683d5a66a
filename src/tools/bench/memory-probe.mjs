import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Loaded into the service ahead of its program: tells its parent what memory it holds once garbage is collected. */
if (isMainThread && process.send !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('message', () => {
    collect();
    process.send?.(process.memoryUsage());
  });
  // Asking is no reason to go on.
  process.channel?.unref();
}
