#!/usr/bin/env node
import { setImmediate } from 'node:timers/promises';
import { onStopSignal } from '../supervisor/stop-signal.ts';
import { describeFailure, exitCodeOf, exitCodes } from './failure.ts';
import { runCommandLine } from './program.ts';
import { say } from './terminal.ts';

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

// Whoever reads the output may end first, as `| head` does: what is done is done, and the exit code says how that went.
let lost: Error | null = null;
stdout.on('error', (error) => {
  if (!('code' in error && error.code === 'EPIPE')) lost = error;
});
stderr.on('error', () => undefined);
const code = await runCommandLine(process.argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signal: ending.signal,
});
// Of the last line too, a failure has been heard by then.
await setImmediate();
if (lost !== null) say(stderr, `The output could not be written whole: ${describeFailure(lost)}`);
const outcome = lost === null || code !== exitCodes.done ? code : exitCodes.failed;
process.exitCode = asked === null || outcome === exitCodes.done ? outcome : exitCodeOf(asked);
