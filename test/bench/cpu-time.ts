import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { UsageError } from '../setup/command-line.ts';

/** Ticks of /proc in a second: USER_HZ, which is 100 on every architecture that Node.js runs on (proc(5)). */
const ticksPerSecond = 100;

/** CPU time used so far, in seconds: user and system time, to a hundredth of a second. */
export interface CpuTime {
  /** Of all threads, those that have ended too, and of the processes that this one has started and that still run. */
  readonly all: number;
  /** Of the main thread alone: for a service, all but password hashing, the embedded database, and the collector. */
  readonly mainThread: number;
}

/** CPU time of a process and its descendants. */
export function cpuTimeOf(pid: number): CpuTime {
  const own = {
    all: secondsIn(`/proc/${pid}/stat`),
    mainThread: secondsIn(`/proc/${pid}/task/${pid}/stat`),
  };
  return childrenOf(pid).reduce((total, child) => {
    const { all, mainThread } = cpuTimeOf(child);
    return { all: total.all + all, mainThread: total.mainThread + mainThread };
  }, own);
}

function secondsIn(file: string): number {
  const line = readFileSync(file, 'latin1');
  // The second field is the program's name in brackets, which may hold spaces and brackets of its own.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return (userTicks + systemTicks) / ticksPerSecond;
}

/** A kernel that does not list them has none to count here. */
function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => `/proc/${pid}/task/${thread}/children`)
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'latin1').split(' ').filter(Boolean).map(Number));
}

/**
 * Other systems have no count of a foreign process's CPU time that Node.js can read.
 * @throws {UsageError} where there is no /proc
 */
export function requireCpuTime(): void {
  if (existsSync('/proc/self/stat')) return;
  throw new UsageError(
    `The benchmark reads the CPU time of the service from /proc, which ${process.platform} does not have. Run it on Linux, or in a Linux container.`,
  );
}
