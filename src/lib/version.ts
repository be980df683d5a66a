import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** The version that package.json states, of the sources and of what is built of them alike; `unknown` without one. */
export const version: string = readVersion();

function readVersion(): string {
  try {
    const stated: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    if (typeof stated === 'object' && stated !== null && 'version' in stated) return String(stated.version);
  } catch {
    // Moved: nothing depends on it.
  }
  return 'unknown';
}
