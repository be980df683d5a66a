import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of a test's own, so small that it can be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves not a byte. */
  fill(): void;
  /** Takes away what filled it. */
  free(): void;
  readOnly(): void;
  unmount(): void;
}

/** Null where this user may not mount one. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'latchkey-disk-'));
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'pipe' });
  try {
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path);
  } catch {
    rmdirSync(path);
    return null;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (const size of [2 ** 20, 2 ** 12]) fillBy(file, Buffer.alloc(size, 1));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    readOnly: () => void mount('-o', 'remount,ro', path),
    unmount: () => {
      execFileSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}

function fillBy(file: number, block: Buffer): void {
  for (;;) {
    try {
      writeSync(file, block);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
      throw error;
    }
  }
}

const probe = mountSmallDisk(1);
probe?.unmount();
/** Only the superuser mounts disks. */
export const canMount = probe !== null;
if (!canMount) process.stderr.write('Left out: full and read-only disks (this user may not mount any).\n');
