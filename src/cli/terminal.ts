import type { Readable, Writable } from 'node:stream';

/** An output stream: a terminal, a pipe or a file. */
export type Output = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** The parts of a process that a command uses. Tests pass their own. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  /** Results, for people and for programs. */
  readonly stdout: Output;
  /** Everything else: progress, advice, errors. */
  readonly stderr: Output;
  /** Aborted when the operator cancels the command, which then undoes its work and throws `signal.reason`. */
  readonly signal: AbortSignal;
}

/** Writes one line. */
export function say(output: Output, line: string): void {
  output.write(`${line}\n`);
}
