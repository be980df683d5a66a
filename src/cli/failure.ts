import { constants } from 'node:os';

/** A command failed for a reason that the operator can fix. The message says what is wrong, where, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Exit codes of `latchkey`: 0 success, 1 failure, 2 usage error. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** The exit code after a signal, by the convention of shells: 128 + signal number, 130 after Ctrl-C. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Advice for operating system errors, by error code. */
const advice: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space, or use another disk.'],
  ['EDQUOT', 'The quota of this disk is used up: free some space, or use another disk.'],
  ['EFBIG', 'The file is larger than this process may write (ulimit -f) or than the file system supports.'],
  ['EACCES', 'Give this user read and write access, or choose another path.'],
  ['EPERM', 'Give this user read and write access, or choose another path.'],
  ['EROFS', 'The file system is read-only: choose another path.'],
  ['EPIPE', 'The program that reads the output ended before all of it was written.'],
]);

/** Control characters, which a terminal would interpret. A message may quote a file or a server. */
const controls = /(?![\n\t])\p{Cc}/gu;

/** The message of an error with advice, as one paragraph without a stack. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = (error.message === '' ? error.name : error.message).replace(controls, '\u{fffd}');
  const help = 'code' in error && typeof error.code === 'string' ? advice.get(error.code) : undefined;
  return help === undefined ? message : `${message}. ${help}`;
}
