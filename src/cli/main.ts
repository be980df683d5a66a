#!/usr/bin/env node
import { onStopSignal } from '../supervisor/stop-signal.ts';
import { exitCodeOf } from './failure.ts';
import { runCommandLine } from './program.ts';

const ending = new AbortController();
let asked: NodeJS.Signals | null = null;

// The first signal lets the command undo what it began, one that is no echo of it ends it as it stands.
onStopSignal(
  (signal) => {
    asked = signal;
    ending.abort();
  },
  () => process.exit(exitCodeOf(asked ?? 'SIGTERM')),
);

const { env, stdin, stdout, stderr } = process;
const code = await runCommandLine(process.argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signal: ending.signal,
});
process.exitCode = asked === null || code === 0 ? code : exitCodeOf(asked);
