import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../../lib/package-root.ts';

/** Built files run as they are; source files, in tests and development, through tsx. */
const fromSource = import.meta.url.endsWith('.ts');

/** Starts a thread from a file of this folder. */
export function spawnThread(name: 'worker' | 'heartbeat', workerData: unknown): Worker {
  const file = fromSource ? `src/db/embedded/${name}.ts` : `dist/db/embedded/${name}.js`;
  const url = pathToFileURL(join(packageRoot, file));
  return new Worker(fromSource ? throughTsx(url) : url, { workerData });
}

/**
 * tsx's `--import` hook leaves worker threads alone on Node 20, so the thread registers it itself.
 * tsx is resolved from this file, not from the working directory, which may be anywhere.
 */
function throughTsx(url: URL): URL {
  const tsxPackage = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const tsx = new URL('./dist/esm/api/index.mjs', tsxPackage).href;
  const code = `import { register } from ${JSON.stringify(tsx)}; register(); await import(${JSON.stringify(url.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
