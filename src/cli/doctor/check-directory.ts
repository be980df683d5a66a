import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findHolder } from '../../db/embedded/find-holder.ts';
import { hasEmbeddedDatabase } from '../database.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('data directory');

/** Free disk space below which the check warns or fails. */
const warnBytes = 1024 ** 3;
const failBytes = 100 * 1024 ** 2;
const mib = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2).toLocaleString('en-US')} MiB`;

/** The result of checking a data directory. */
export interface DirectoryState {
  readonly findings: readonly Finding[];
  /** Whether it contains a database that is not in use. */
  readonly canBeOpened: boolean;
}

/** Checks the directory of an embedded database: access, free disk space, file mode and lock. */
export async function checkDirectory(given: string): Promise<DirectoryState> {
  const directory = resolve(given);
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  if (found === 'ENOENT') {
    return closed(ok(`${directory} does not exist yet: the first start creates it`));
  }
  if (typeof found === 'string') {
    return closed(
      fail(`${directory} is not accessible (${found}): give this user access, or set another DATA_DIR.`),
    );
  }
  if (!found.isDirectory()) {
    return closed(fail(`${directory} is not a directory: move the file away, or set another DATA_DIR.`));
  }
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return closed(
      fail(`${directory} is not writable by this user: run as its owner, or set another DATA_DIR.`),
    );
  }
  const findings = [await checkSpace(directory), checkMode(directory, found.mode)];
  const holder = await findHolder(directory);
  if (holder?.isAlive) {
    return {
      findings: [
        ...findings,
        ok(`${directory} is in use by ${holder.name}; stop that process to check the database inside`),
      ],
      canBeOpened: false,
    };
  }
  const exists = hasEmbeddedDatabase(directory);
  const state = exists
    ? 'contains a database that is not in use'
    : 'contains no database yet: the first start creates it';
  return {
    findings: [
      ...findings,
      ok(`${directory} ${state}`),
      ...(holder === null ? [] : [staleLock(directory, holder.name)]),
    ],
    canBeOpened: exists,
  };
}

/** The doctor does not remove a stale lock. A start takes it over, and stops its holder if that resumes later. */
const staleLock = (directory: string, name: string): Finding =>
  warn(
    `${directory} has a stale lock of ${name}: a power loss left it behind, or that process is suspended. The next ` +
      'start takes it over, and needs about 20 s longer.',
  );

const closed = (finding: Finding): DirectoryState => ({ findings: [finding], canBeOpened: false });

async function checkSpace(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < failBytes) {
    return fail(`The disk of ${directory} has ${mib(free)} free: free some space before the database stops.`);
  }
  if (free < warnBytes) {
    return warn(
      `The disk of ${directory} has ${mib(free)} free: free some space, or lower LOG_RETENTION_DAYS.`,
    );
  }
  return ok(`The disk of ${directory} has ${mib(free)} free`);
}

function checkMode(directory: string, mode: number): Finding {
  const octal = (mode & 0o777).toString(8);
  if (process.platform === 'win32' || (mode & 0o077) === 0)
    return ok(`Only its owner has access to ${directory} (mode ${octal})`);
  if ((mode & 0o022) === 0) {
    return warn(`${directory} is readable by other users (mode ${octal}): run "chmod 700 ${directory}".`);
  }
  return fail(`${directory} is writable by other users (mode ${octal}): run "chmod 700 ${directory}".`);
}
