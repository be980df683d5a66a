import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies a directory tree so that only this user has access, sharing blocks if the file system can. Modes are not copied,
 * because an installation may be read-only or readable for all users.
 */
export async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyDirectory(source, target);
    else {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, 0o600);
    }
  }
}

/** Makes a directory tree readable for all users and writable only for its owner, regardless of the umask. */
export async function letAllRead(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await letAllRead(path);
    else await chmod(path, 0o644);
  }
}

/** Syncs a directory tree, so that contents and names survive a power loss. */
export async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const paths = [directory, ...entries.map((entry) => join(entry.parentPath, entry.name))].values();
  const worker = async () => {
    for (const path of paths) await syncPath(path);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}
