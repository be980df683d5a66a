import type { Readable, Writable } from 'node:stream';

/** What a command writes to: a terminal, a pipe or a file. */
export type Output = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** What a command has of the process that it runs in. Tests hand it their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Results, for people and for the next program. */
  readonly stdout: Output;
  /** Everything else: progress, advice, errors. */
  readonly stderr: Output;
  /** Aborted when the operator wants it to end: undo what was begun, and throw `signal.reason`. */
  readonly signal: AbortSignal;
}

/** Writes one line. */
export function say(output: Output, line: string): void {
  output.write(`${line}\n`);
}
