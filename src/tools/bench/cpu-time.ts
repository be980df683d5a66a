import { existsSync, readFileSync } from 'node:fs';
import { UsageError } from './options.ts';

/** Ticks of /proc in a second: USER_HZ, which is 100 on every architecture that Node.js runs on (proc(5)). */
const ticksPerSecond = 100;

/**
 * CPU time that a process has used so far, in seconds: user and system time of all its threads, those that have ended
 * too. To a hundredth of a second.
 */
export function cpuSecondsOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name in brackets, which may hold spaces and brackets of its own.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return (userTicks + systemTicks) / ticksPerSecond;
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
