#!/usr/bin/env node
import { exitCodeOf } from './failure.ts';
import { runCommandLine } from './program.ts';

const ending = new AbortController();
let asked: NodeJS.Signals | null = null;

// The first signal lets the command undo what it began, the next one ends it as it stands.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (asked !== null) process.exit(exitCodeOf(signal));
    asked = signal;
    ending.abort();
  });
}

const { env, stdin, stdout, stderr } = process;
const code = await runCommandLine(process.argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signal: ending.signal,
});
process.exitCode = asked === null || code === 0 ? code : exitCodeOf(asked);
