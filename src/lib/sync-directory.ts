import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A name in a directory outlasts a power cut once the directory has been synced. Windows does so by itself. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
