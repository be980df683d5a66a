import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { root, startServiceProcess } from '../setup/process.ts';

/** The message of a failed start: one sentence with advice, without a stack. */

// The error for a link-local address without an existing zone depends on the machine.
test.each([
  ['192.0.2.1', /EADDRNOTAVAIL/],
  ['fe80::1', /EINVAL|EADDRNOTAVAIL/],
  ['fe80::1%nowhere', /EINVAL|ENOTFOUND|EADDRNOTAVAIL/],
])('HOST %s fails with a clear message', async (HOST, code) => {
  const said = await startServiceProcess({ HOST, DATA_DIR: 'memory:' }).then(String, String);
  expect(said).toMatch(/Cannot listen: .*Set HOST to/);
  expect(said).toMatch(code);
  expect(said).not.toMatch(/\n\s+at /);
});

/** Runs a command that starts the service until it logs that it listens. */
async function startBy(command: string, ...args: string[]) {
  const child = spawn(command, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TERM: 'xterm-256color',
      PORT: '0',
      DATA_DIR: 'memory:',
      LOG_LEVL: 'debug',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  // The service has ended when its output is closed.
  const silent = once(child.stdout, 'close');
  const listens = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Listening on')) resolve();
    });
    child.once('exit', () => reject(new Error(`It ended:\n${output}`)));
  });
  await listens;
  return { child, silent, output: () => output };
}

test('npm start forwards SIGTERM and leaves no server running', async () => {
  const { child, silent, output } = await startBy('npm', 'start');
  child.kill('SIGTERM');
  await silent;
  expect(output()).toContain('"signal":"SIGTERM"');
});

test('a misspelt variable is reported at the start', async () => {
  const { child, silent, output } = await startBy(process.execPath, 'dist/main.js');
  child.kill('SIGTERM');
  await silent;
  expect(output()).toContain('LOG_LEVL is not a Latchkey variable. Did you mean LOG_LEVEL?');
});

/** Gives a command a terminal (util-linux). */
const script = '/usr/bin/script';

test.skipIf(!existsSync(script))(
  'the log is human-readable on a terminal and JSON elsewhere',
  { tags: 'slow' },
  async () => {
    const onTerminal = await startBy(script, '-qec', `${process.execPath} dist/main.js`, '/dev/null');
    onTerminal.child.kill('SIGTERM');
    await onTerminal.silent;
    expect(onTerminal.output()).toMatch(/INFO.*Listening on http/);
    expect(onTerminal.output()).toMatch(/Open http:\S+ in a browser/);
    expect(onTerminal.output()).not.toContain('{"level"');

    const elsewhere = await startBy(process.execPath, 'dist/main.js');
    elsewhere.child.kill('SIGTERM');
    await elsewhere.silent;
    for (const line of elsewhere.output().trim().split('\n'))
      expect(() => JSON.parse(line), line).not.toThrow();
    expect(elsewhere.output()).not.toContain('in a browser');
  },
);

test('GraphQL, which is loaded on first use, answers every request of the first moment', async () => {
  const service = await startServiceProcess({ DATA_DIR: 'memory:' });
  const ask = () =>
    fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    }).then((answer) => answer.json());
  const answers = await Promise.all(Array.from({ length: 8 }, ask));
  await service.stop();
  expect(answers).toEqual(Array.from({ length: 8 }, () => ({ data: { __typename: 'Query' } })));
});
