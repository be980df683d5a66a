import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { root } from '../setup/process.ts';

/** A process may take seconds to start on a busy machine. */
const patient = { timeout: 20_000 };

/** The log of a process whose standard output fails. Run from the source, not the build. */
const preamble = `
  import { createLogger } from './src/lib/log.ts';
  import { droppedLogLines } from './src/lib/log-output.ts';
  const log = createLogger('info');`;

/** The arguments of Node.js that run such a program. */
const running = (program: string): string[] => [
  ...['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', preamble + program],
];

function start(program: string, stdout: 'pipe' | number) {
  const child = spawn(process.execPath, running(program), { cwd: root, stdio: ['ignore', stdout, 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, errors: text(child.stderr ?? Readable.from([])), exited: once(child, 'exit') };
}

function namedPipe() {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  return { read: () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), path };
}

/** The numbers of the lines that a reader finds in the pipe; nothing if it is empty. */
function linesIn(reader: number): number[] {
  const buffer = Buffer.alloc(1024 * 1024);
  try {
    const lines = buffer.toString('utf8', 0, readSync(reader, buffer)).split('\n').slice(0, -1);
    return lines.map((line) => z.object({ line: z.number() }).parse(JSON.parse(line)).line);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return [];
    throw error;
  }
}

describe.skipIf(process.platform === 'win32')('the log', () => {
  const numbered = 'let line = 0; setInterval(() => log.info({ line: line++ }), 5);';

  test('keeps its lines in order when some of them are fatal', async () => {
    const program = `
      for (let line = 0; line < 4_000; line += 1) {
        log[line % 40 === 39 ? 'fatal' : 'info']({ line, padding: 'x'.repeat((line * 37) % 700) });
        if (line % 10 === 0) await new Promise(setImmediate);
      }`;
    const { child } = start(program, 'pipe');
    const output = await text(child.stdout ?? Readable.from([]));
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => z.object({ line: z.number() }).parse(JSON.parse(line)).line);
    expect(lines).toEqual(Array.from({ length: 4_000 }, (_, line) => line));
  });

  test('of processes that share a pipe has whole lines only', async () => {
    const program = `
      const padding = (line) => 'x'.repeat((line * 37) % 1_500);
      for (let line = 0; line < 3_000; line += 1) {
        log.info({ line, padding: padding(line) });
        if (line % 50 === 0) await new Promise(setImmediate);
      }`;
    // The pipe is full when the reader begins, so larger writes than a pipe takes as a whole would be cut.
    const shell = '(for worker in 1 2 3; do "$0" "$@" & done; wait) | (sleep 0.5; cat)';
    const child = spawn('sh', ['-c', shell, process.execPath, ...running(program)], { cwd: root });
    const lines = (await text(child.stdout)).trim().split('\n');
    expect(lines).toHaveLength(9_000);
    for (const line of lines) JSON.parse(line);
  });

  test('goes on when a new reader takes the place of one that is gone', async () => {
    const pipe = namedPipe();
    const first = pipe.read();
    const writer = openSync(pipe.path, constants.O_WRONLY);
    const { child } = start(numbered, writer);
    closeSync(writer);
    const latest = await vi.waitFor(() => linesIn(first).at(-1) ?? expect.fail('no line yet'), patient);
    closeSync(first);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const second = pipe.read();
    await vi.waitFor(() => expect(linesIn(second).at(-1)).toBeGreaterThan(latest + 20), patient);
    closeSync(second);
    expect(child.exitCode).toBeNull();
  });

  test('is bounded and its further lines are counted while nothing reads it, and it does not delay the exit', async () => {
    const { child, errors, exited } = start(
      `const line = 'x'.repeat(1_000);
       for (let count = 0; count < 20_000; count += 1) log.info(line);
       process.stderr.write(String(droppedLogLines()));
       setTimeout(() => process.exit(7), 200);`,
      'pipe',
    );
    expect((await exited)[0]).toBe(7);
    child.stdout?.destroy();
    // Of 21 MB, the buffer and the pipe hold less than 9.
    expect(Number(await errors)).toBeGreaterThan(11_000);
    expect(Number(await errors)).toBeLessThan(13_000);
  });

  test('is written before the exit that an uncaught error causes', async () => {
    const { child, exited } = start(`log.info({ line: 1 }); throw new Error('uncaught');`, 'pipe');
    expect(await text(child.stdout ?? Readable.from([]))).toContain('"line":1');
    expect((await exited)[0]).toBe(1);
  });

  test.skipIf(process.platform !== 'linux').each([
    ['a full disk', '/dev/full'],
    ['a pipe without a reader', null],
  ])('on %s does not crash the process or keep it from its end', async (_where, path) => {
    const output = path === null ? 'pipe' : openSync(path, 'w');
    const { child, exited } = start(
      `log.info('first');
       setTimeout(() => { log.info('last'); process.exit(7); }, 300);`,
      output,
    );
    child.stdout?.destroy();
    if (typeof output === 'number') closeSync(output);
    expect((await exited)[0]).toBe(7);
  });
});
