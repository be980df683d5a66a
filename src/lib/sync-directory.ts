import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Syncs a directory, so that renamed and created entries survive a power failure. Not needed on Windows. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
