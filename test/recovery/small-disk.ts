import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A test's own disk, small enough to be filled. */
export interface SmallDisk {
  readonly path: string;
  /** Fills the disk completely. */
  fill(): void;
  /** Uses up the inodes, so that no file can be created. */
  fillWithFiles(): void;
  /** Removes what filled it. */
  free(): void;
  /** Enlarges it. */
  enlarge(megabytes: number, files: number): void;
  /** Remounts it as read-only. No file may be open for writing. */
  readOnly(): void;
  unmount(): void;
}

/**
 * @param files the maximum number of files
 * @returns null if this user may not mount a disk
 */
export function mountSmallDisk(megabytes: number, files = 10_000): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'latchkey-disk-'));
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'pipe' });
  try {
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m,nr_inodes=${files}`, 'tmpfs', path);
  } catch {
    rmdirSync(path);
    return null;
  }
  const filler = join(path, 'filler');
  const folder = join(path, 'files');
  return {
    path,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (const size of [2 ** 20, 2 ** 12]) untilFull(() => writeSync(file, Buffer.alloc(size, 1)));
      } finally {
        closeSync(file);
      }
    },
    fillWithFiles: () => {
      mkdirSync(folder, { recursive: true });
      let count = statfsSync(path).ffree;
      untilFull(() => writeFileSync(join(folder, String(count++)), ''));
    },
    free: () => {
      for (const each of [filler, folder]) rmSync(each, { force: true, recursive: true });
    },
    enlarge: (size, most) => void mount('-o', `remount,size=${size}m,nr_inodes=${most}`, path),
    readOnly: () => void mount('-o', 'remount,ro', path),
    unmount: () => {
      execFileSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}

function untilFull(write: () => unknown): void {
  for (;;) {
    try {
      write();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
      throw error;
    }
  }
}

/**
 * A disk whose file system can be shut down, as after a hardware error.
 * @returns null if this user may not create one
 */
export function mountStoppingDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-disk-'));
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')];
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'pipe' });
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, path);
  try {
    mkdirSync(path);
    run('truncate', '-s', '160M', image);
    run('mkfs.ext4', '-q', '-F', image);
    mount();
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return null;
  }
  return {
    path,
    stop: () => void run('mount', '-o', 'remount,abort', path),
    /** Call it when no file is open there. */
    repair: () => {
      run('umount', path);
      // It exits with 1 after a repair.
      spawnSync('fsck.ext4', ['-fy', image]);
      mount();
    },
    unmount: () => {
      run('umount', '-l', path);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a folder behave like a read-only disk (EROFS) for every lookup of a name in it, as after an error of a disk
 * that is mounted with `errors=remount-ro`. Open files stay writable, as with any mount.
 * @returns a function that makes it writable again
 */
export function makeReadOnly(folder: string): () => void {
  execFileSync('mount', ['--bind', folder, folder], { stdio: 'pipe' });
  execFileSync('mount', ['-o', 'remount,bind,ro', folder], { stdio: 'pipe' });
  return () => void execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
}

const probe = mountSmallDisk(1);
probe?.unmount();
/** Only root can mount disks. */
export const canMount = probe !== null;
if (!canMount) process.stderr.write('Skipped: full and read-only disks (this user may not mount any).\n');
