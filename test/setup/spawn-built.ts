import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { spawnThread as original } from '../../src/db/embedded/spawn.ts';
import { packageRoot } from '../../src/lib/package-root.ts';

/** Within the project, so that its packages are found. */
export const threadsDirectory = join(packageRoot, 'node_modules/.cache/latchkey-threads');

/** Stands in for `src/db/embedded/spawn.ts` in tests: starts a thread from what build-threads.ts has built. */
export const spawnThread: typeof original = (name, workerData) =>
  new Worker(pathToFileURL(join(threadsDirectory, `${name}.js`)), { workerData });
