import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Above the time that the service gives itself. */
const limitMilliseconds = 25_000;

/** Asks a process that was started here to end, and ends it when it does not. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const impatience = setTimeout(() => child.kill('SIGKILL'), limitMilliseconds);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(impatience);
}
