import { PassThrough, type Readable, Writable } from 'node:stream';
import { runCommandLine } from '../../src/cli/program.ts';

/** The result of a command. */
export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandInput {
  /** The content of standard input. */
  readonly input?: string | Readable;
  readonly signal?: AbortSignal;
}

/** Runs `latchkey …` in this process with the given environment. */
export async function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { input = '', signal = new AbortController().signal }: CommandInput = {},
): Promise<CommandRun> {
  const [stdout, stderr] = [collect(), collect()];
  const stdin = typeof input === 'string' ? new PassThrough().end(input) : input;
  const code = await runCommandLine(words, {
    env,
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collect(): { stream: Writable; text(): string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
