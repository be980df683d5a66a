import { readFileSync } from 'node:fs';

/** The version from package.json, found from both `src` and `dist`; `unknown` if there is none. */
export const version: string = readVersion();

function readVersion(): string {
  try {
    const stated: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    if (typeof stated === 'object' && stated !== null && 'version' in stated) return String(stated.version);
  } catch {
    // The code was bundled or moved; nothing depends on the version.
  }
  return 'unknown';
}
