import { join } from 'node:path';
import { build } from 'esbuild';
import { packageRoot } from '../../src/lib/package-root.ts';
import { threadsDirectory } from './spawn-built.ts';

/**
 * Builds the files that run in threads, once before a run. Node.js 20 does not run TypeScript, and each thread that compiles
 * its own files takes half a second, as often as a test opens a database.
 */
export async function setup(): Promise<void> {
  await build({
    entryPoints: ['worker', 'heartbeat'].map((name) => join(packageRoot, `src/db/embedded/${name}.ts`)),
    outdir: threadsDirectory,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
}
