import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a data directory: enough to tell whether that process still lives. */
export interface Owner {
  readonly pid: number;
  /** When the process started, in the kernel's ticks; null where there is no /proc. Tells a reused pid. */
  readonly startTime: string | null;
  /** Host, boot and pid namespace, with spaces between: pids mean the same where the latter two are the same. */
  readonly place: string;
  readonly socketDirectory: string;
}

export type Life = 'alive' | 'dead' | 'unknown';

export function thisProcess(socketDirectory: string): Owner {
  return {
    pid: process.pid,
    startTime: statOf(process.pid)?.startTime ?? null,
    place: place(),
    socketDirectory,
  };
}

/** Unknown: the owner runs, or ran, on another machine, before a reboot, or in another container. */
export function lifeOf(owner: Owner): Life {
  if (!sharesPids(owner.place)) return 'unknown';
  if (!exists(owner.pid)) return 'dead';
  const stat = statOf(owner.pid);
  if (stat === null || owner.startTime === null) return 'alive';
  return stat.startTime === owner.startTime && !stat.zombie ? 'alive' : 'dead';
}

function place(): string {
  const boot = attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = attempt(() => readlinkSync('/proc/self/ns/pid'));
  return [hostname(), boot, namespace].join(' ');
}

/** A host's name is for people: it changes, and containers have each other's. It counts where nothing else is known. */
function sharesPids(theirs: string): boolean {
  const ours = place();
  const [boot, namespace] = ours.split(' ').slice(-2);
  if (!boot || !namespace) return theirs === ours;
  return theirs.split(' ').slice(-2).join(' ') === `${boot} ${namespace}`;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and is another user's.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}

/** proc(5): the command's name stands in parentheses and can hold anything; state is field 3, starttime 22. */
function statOf(pid: number): { readonly startTime: string; readonly zombie: boolean } | null {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  return state === undefined || startTime === undefined
    ? null
    : { startTime, zombie: state === 'Z' || state === 'X' };
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
