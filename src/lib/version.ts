import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './package-root.ts';

/** The version from package.json, found from both `src` and `dist`; `unknown` if it cannot be read. */
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
