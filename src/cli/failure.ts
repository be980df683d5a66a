import { constants } from 'node:os';

/** A command cannot do what it was asked. The message says what is wrong, where, and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** What a process ends with: 0 done, 1 failed, 2 asked in a way that it does not know. */
export const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

/** As shells have it: 130 after Ctrl-C. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** What to do about a failure of the operating system, by its code. */
const advice: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'The disk is full: free some space, or use another disk.'],
  ['EDQUOT', 'The quota of this disk is used up: free some space, or use another disk.'],
  ['EFBIG', 'The file is larger than this process may write (ulimit -f) or than the file system takes.'],
  ['EACCES', 'Let this user read and write there, or name another place.'],
  ['EPERM', 'Let this user read and write there, or name another place.'],
  ['EROFS', 'The file system is read-only: name another place.'],
  ['EPIPE', 'The program that reads the output has ended before all of it was written.'],
]);

/** What a terminal would carry out: a failure may quote a file or a server. */
const controls = /(?![\n\t])\p{Cc}/gu;

/** What failed, in one paragraph without a stack; every error of ours is written for the operator. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = (error.message === '' ? error.name : error.message).replace(controls, '\u{fffd}');
  const help = 'code' in error && typeof error.code === 'string' ? advice.get(error.code) : undefined;
  return help === undefined ? message : `${message}. ${help}`;
}
