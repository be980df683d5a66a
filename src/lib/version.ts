import { readFileSync } from 'node:fs';

/** The version that package.json states, of the sources and of what is built of them alike; `unknown` without one. */
export const version: string = readVersion();

function readVersion(): string {
  try {
    const stated: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    if (typeof stated === 'object' && stated !== null && 'version' in stated) return String(stated.version);
  } catch {
    // Bundled or moved: nothing depends on it.
  }
  return 'unknown';
}
