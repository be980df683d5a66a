import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The holder of a data directory, with enough details to tell whether that process is alive. */
export interface Owner {
  readonly pid: number;
  /** The process's start time in kernel ticks, which detects a reused pid; null without /proc. */
  readonly startTime: string | null;
  /** Host, boot id and pid namespace, separated by spaces. Pids are comparable if the latter two are equal. */
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

/** `unknown` if the owner is from another machine, another container or before a reboot. */
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

/** Host names are not reliable: they change, and containers may share one. They count only if nothing else is known. */
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
    // EPERM: the process is alive and belongs to another user.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}

/** proc(5): the command name is in parentheses and can contain any character; state is field 3, starttime field 22. */
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
