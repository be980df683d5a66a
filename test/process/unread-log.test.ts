/** @module-tag slow */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { root } from '../setup/process.ts';

/** A service whose log goes to a full pipe without a reader: it serves and stops. Run from the source, not the build. */

const redisUrl = process.env.TEST_REDIS_URL;
const logLine = z.object({ line: z.number().optional() });
const patient = { timeout: 120_000, interval: 50 };
/** Far more than the four seconds of a shutdown here. A shutdown that waits for the reader never ends. */
const soon = 30_000;

/** A full pipe whose reader does not read. */
function fullPipe(): number {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-pipe-'));
  const path = join(directory, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  onTestFinished(() => {
    closeSync(reader);
    closeSync(writer);
    rmSync(directory, { recursive: true, force: true });
  });
  expect(() => {
    for (;;) writeSync(reader, 'x'.repeat(4096));
  }).toThrow('EAGAIN');
  return writer;
}

async function start(env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), 'src/main.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: String(port), DATA_DIR: 'memory:', ...env },
    stdio: ['ignore', fullPipe(), 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).ok).toBe(true), patient);
  return {
    /** Sends a request that is never completed. */
    holdRequest: async () => {
      const stranger = connect(port, '127.0.0.1');
      stranger.on('error', () => {});
      onTestFinished(() => void stranger.destroy());
      await once(stranger, 'connect');
      stranger.write('POST /api/v1/session/init HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"a');
      // This is answered after that request has been accepted and read.
      await (await fetch(`${url}/health`)).text();
    },
    signal: () => child.kill('SIGTERM'),
    /** Its exit code, or that it is still running. */
    end: () => Promise.race([exited.then(([code]) => code), sleep(soon, 'goes on', { ref: false })]),
  };
}

test.each([
  ['to a pipe that somebody reads', ' | cat'],
  ['to a file', ''],
])(
  'everything logged before an exit is written in order, %s',
  async (_where, reader) => {
    const directory = mkdtempSync(join(tmpdir(), 'latchkey-log-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const path = join(directory, 'log');
    const program = `
    import { createLogger } from './src/lib/log.ts';
    const log = createLogger('info');
    for (let line = 0; line < 5_000; line += 1) log.info({ line }, 'one of many');
    log.fatal('the last');
    process.exit(7);`;
    const child = spawn(
      'sh',
      ['-c', `"$0" --import "$1" --input-type=module -e "$2"${reader} > "$3"`].concat([
        process.execPath,
        import.meta.resolve('tsx'),
        program,
        path,
      ]),
      { cwd: root, stdio: 'inherit' },
    );
    await once(child, 'exit');
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines.map((line) => logLine.parse(JSON.parse(line)).line)).toEqual([
      ...Array.from({ length: 5_000 }, (_, line) => line),
      undefined,
    ]);
  },
  60_000,
);

test('it shuts down gracefully', async () => {
  const service = await start({ SHUTDOWN_SECONDS: '3' });
  await service.holdRequest();
  service.signal();
  expect(await service.end()).toBe(0);
}, 200_000);

test('a second signal ends the service at once', async () => {
  const service = await start({ SHUTDOWN_SECONDS: '60' });
  await service.holdRequest();
  service.signal();
  // An earlier one would count as the same signal (stop-signal.ts).
  await sleep(1_500);
  service.signal();
  expect(await service.end()).toBe(1);
}, 200_000);

test.skipIf(serverUrl === null || redisUrl === undefined)(
  'and so does a supervisor with workers',
  async () => {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const service = await start({
      WORKERS: '2',
      DATABASE_URL: url,
      REDIS_URL: redisUrl ?? '',
      SERVICE_SECRET: randomBytes(32).toString('base64'),
      SHUTDOWN_SECONDS: '3',
    });
    await service.holdRequest();
    service.signal();
    expect(await service.end()).toBe(0);
  },
  200_000,
);
