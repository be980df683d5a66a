#!/usr/bin/env node
import { setImmediate } from 'node:timers/promises';
import { onStopSignal } from '../supervisor/stop-signal.ts';
import { describeFailure, exitCodeOf, exitCodes } from './failure.ts';
import { runCommandLine } from './program.ts';
import { say } from './terminal.ts';

const ending = new AbortController();
let stopSignal: NodeJS.Signals | null = null;

// The first signal lets the command undo its work. A second one ends the process at once.
onStopSignal(
  (signal) => {
    stopSignal = signal;
    ending.abort();
  },
  () => process.exit(exitCodeOf(stopSignal ?? 'SIGTERM')),
);

const { env, stdin, stdout, stderr } = process;

// The reader of the output may end first, as `| head` does. The command still completes, and its exit code is the result.
let outputError: Error | null = null;
stdout.on('error', (error) => {
  if (!('code' in error && error.code === 'EPIPE')) outputError = error;
});
stderr.on('error', () => undefined);
const code = await runCommandLine(process.argv.slice(2), {
  env,
  stdin,
  stdout,
  stderr,
  signal: ending.signal,
});
// The stream reports a failed write of the last line asynchronously.
await setImmediate();
if (outputError !== null) {
  say(stderr, `The output is incomplete: ${describeFailure(outputError)}`);
}
const outcome = outputError === null || code !== exitCodes.done ? code : exitCodes.failed;
process.exitCode = stopSignal === null || outcome === exitCodes.done ? outcome : exitCodeOf(stopSignal);
