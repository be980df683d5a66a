import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findHolder } from '../../db/embedded/find-holder.ts';
import { hasEmbeddedDatabase } from '../database.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('data directory');

/** Below the first the database's own files do not fit for long, below the second it stops soon. */
const littleBytes = 1024 ** 3;
const leastBytes = 100 * 1024 ** 2;
const mib = (bytes: number): string => `${Math.floor(bytes / 1024 ** 2).toLocaleString('en-US')} MiB`;

/** What was found of a data directory. */
export interface DirectoryState {
  readonly findings: readonly Finding[];
  /** Whether there is a database that can be opened here now. */
  readonly canBeOpened: boolean;
}

/** Looks at the directory of an embedded database: whether it can be used, by whom, and how full its disk is. */
export async function checkDirectory(given: string): Promise<DirectoryState> {
  const directory = resolve(given);
  const found = await stat(directory).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown');
  if (found === 'ENOENT') {
    return closed(ok(`${directory} is not there yet: the first start makes it`));
  }
  if (typeof found === 'string') {
    return closed(
      fail(`${directory} cannot be looked at (${found}): let this user enter it, or set DATA_DIR.`),
    );
  }
  if (!found.isDirectory()) {
    return closed(fail(`${directory} is not a directory: move the file away, or set DATA_DIR.`));
  }
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return closed(fail(`${directory} cannot be written by this user: run as its owner, or set DATA_DIR.`));
  }
  const findings = [await checkSpace(directory), checkMode(directory, found.mode)];
  const holder = await findHolder(directory);
  if (holder?.isAlive) {
    return {
      findings: [
        ...findings,
        ok(`${directory} is in use by ${holder.name}; stop it for a look at the database inside`),
      ],
      canBeOpened: false,
    };
  }
  const exists = hasEmbeddedDatabase(directory);
  const state = exists
    ? 'has a database that nobody uses now'
    : 'has no database yet: the first start makes it';
  return {
    findings: [
      ...findings,
      ok(`${directory} ${state}`),
      ...(holder === null ? [] : [leftBy(directory, holder.name)]),
    ],
    canBeOpened: exists,
  };
}

/** It is left as it is: a start takes it over, and sees to it that a process that wakes up later does no harm. */
const leftBy = (directory: string, name: string): Finding =>
  warn(
    `${directory} has the lock of ${name}, which shows no sign of life: a power cut has left it, or that process ` +
      'stands still. The next start takes it over, which takes some 20 s longer.',
  );

const closed = (finding: Finding): DirectoryState => ({ findings: [finding], canBeOpened: false });

async function checkSpace(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < leastBytes) {
    return fail(`The disk of ${directory} has ${mib(free)} left: free some space before the database stops.`);
  }
  if (free < littleBytes) {
    return warn(
      `The disk of ${directory} has ${mib(free)} left: free some space, or lower LOG_RETENTION_DAYS.`,
    );
  }
  return ok(`The disk of ${directory} has ${mib(free)} left`);
}

function checkMode(directory: string, mode: number): Finding {
  const octal = (mode & 0o777).toString(8);
  if (process.platform === 'win32' || (mode & 0o077) === 0)
    return ok(`${directory} is its owner's alone (${octal})`);
  if ((mode & 0o022) === 0) {
    return warn(`${directory} can be read by others (its mode is ${octal}): run "chmod 700 ${directory}".`);
  }
  return fail(`${directory} can be written by others (its mode is ${octal}): run "chmod 700 ${directory}".`);
}
