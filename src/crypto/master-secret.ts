import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The secret file is there and cannot be used. Making another would lose what the first one protects. */
export class MasterSecretError extends Error {
  override readonly name = 'MasterSecretError';
}

const fileName = 'service-secret';

/**
 * Reads the master secret of a data directory, and makes it on the first start (32 random bytes in base64, mode
 * 0600). The caller holds the directory's lock, so that no two processes make one.
 * @throws {MasterSecretError} for a file that is not such a secret
 */
export function loadOrCreateMasterSecret(directory: string): Uint8Array {
  const path = join(directory, fileName);
  try {
    createFile(path, randomBytes(32).toString('base64'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const text = readFileSync(path, 'utf8').trim();
  const secret = Buffer.from(text, 'base64');
  if (secret.length !== 32 || secret.toString('base64') !== text) {
    throw new MasterSecretError(
      `${path} does not hold a master secret (32 bytes in base64). Restore it from a backup: ` +
        'without it the private keys of your applications cannot be opened.',
    );
  }
  return new Uint8Array(secret);
}

/** Links a file that is whole and on disk into its place, so that a crash never leaves half a secret there. */
function createFile(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${text}\n`);
    fsyncSync(file);
    linkSync(draft, path);
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}
