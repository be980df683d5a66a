import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../lib/package-root.ts';

/** Built files run directly; source files, in tests and development, run through tsx. */
const fromSource = import.meta.url.endsWith('.ts');

/** Starts a thread from a file of this folder. */
export function spawnThread(name: 'worker' | 'heartbeat', workerData: unknown): Worker {
  const file = fromSource ? `src/db/embedded/${name}.ts` : `dist/db/embedded/${name}.js`;
  const url = pathToFileURL(join(packageRoot, file));
  return new Worker(fromSource ? throughTsx(url) : url, { workerData });
}

/**
 * On Node 20, tsx's `--import` hook does not apply to worker threads, so the thread registers tsx itself. tsx is resolved
 * from this file, because the working directory can be anywhere.
 */
function throughTsx(url: URL): URL {
  const tsxPackage = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const tsx = new URL('./dist/esm/api/index.mjs', tsxPackage).href;
  const code = `import { register } from ${JSON.stringify(tsx)}; register(); await import(${JSON.stringify(url.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
