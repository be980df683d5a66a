import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { root } from '../setup/process.ts';

// What the script does to real instances, and under load, is tested by roll.test.ts.

/** Instances that answer /health/ready as a test wants, and note which command was run for which of them. */
async function startInstances(...ready: readonly boolean[]) {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-roll-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const journal = join(directory, 'journal');
  writeFileSync(journal, '');
  const urls: string[] = [];
  for (const isReady of ready) {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/health/ready' && !isReady ? 503 : 200).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = z.object({ port: z.number() }).parse(server.address());
    urls.push(`http://127.0.0.1:${port}`);
  }
  /** A command that notes a verb and the instance, and may be given more words. */
  const note = (verb: string) => `noted() { echo ${verb} $INSTANCE "$@" >> ${journal}; }; noted`;
  return { urls, note, noted: () => readFileSync(journal, 'utf8').trim().split('\n') };
}

async function roll(...words: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'deploy/roll.mjs'), '--patience', '1', ...words]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [code] = await once(child, 'close');
  return { code, output };
}

test('it stops nothing while an instance is not ready', async () => {
  const { urls, note, noted } = await startInstances(true, false);
  const [a, b] = urls;
  const { code, output } = await roll('--stop', note('stop'), '--start', note('start'), `a=${a}`, `b=${b}`);
  expect(code).toBe(1);
  expect(output).toContain('b is ready: not within 1 s.\nNothing else was stopped.');
  expect(noted()).toEqual(['']);
});

test('it ends at the first instance that fails, and touches no later one', async () => {
  const { urls, note, noted } = await startInstances(true, true);
  const [a, b] = urls;
  const { code, output } = await roll(
    '--stop',
    `${note('stop')}; exit 3`,
    '--start',
    note('start'),
    `a=${a}`,
    `b=${b}`,
  );
  expect(code).toBe(1);
  expect(output).toContain('ended with 3');
  expect(output).toContain('Later instances were not touched.');
  expect(noted()).toEqual(['stop a']);
});

/** A command that notes what HAProxy is told, and answers that it uses instance a. */
const haproxyOf = (note: string) =>
  String.raw`read line; ${note} "$line"; case "$line" in 'show stat') printf '# pxname,svname,status\nlatchkey,a,UP\n';; esac`;
const statesIn = (noted: readonly string[]) => noted.filter((line) => line.includes('state'));

test('it lets HAProxy use an instance again that could not be stopped', async () => {
  const { urls, note, noted } = await startInstances(true);
  const words = ['--start', note('start'), '--haproxy', haproxyOf(note('haproxy')), `a=${urls[0]}`];
  const { code, output } = await roll('--stop', 'exit 255', ...words);
  expect(code).toBe(1);
  expect(output).toContain('a is ready, and HAProxy uses it again.');
  expect(statesIn(noted())).toEqual([
    'haproxy set server latchkey/a state drain',
    'haproxy set server latchkey/a state ready',
  ]);
});

test.each(['SIGINT', 'SIGTERM'])('%s leaves no instance drained', async (signal) => {
  const { urls, note, noted } = await startInstances(true);
  const words = ['--start', note('start'), '--haproxy', haproxyOf(note('haproxy')), `a=${urls[0]}`];
  // The instance goes on, as if the signal had also ended the command that stops it.
  const { code, output } = await roll('--stop', `kill -s ${signal.slice(3)} $PPID; sleep 0.2`, ...words);
  expect(code).toBe(1);
  expect(output).toContain('Interrupted.\nLater instances were not touched. a is ready');
  expect(statesIn(noted()).at(-1)).toBe('haproxy set server latchkey/a state ready');
});

test('it does not start an instance that still answers', async () => {
  const { urls, note, noted } = await startInstances(true);
  const { code, output } = await roll('--stop', note('stop'), '--start', note('start'), `a=${urls[0]}`);
  expect(code).toBe(1);
  expect(output).toContain('a has stopped: not within 1 s.');
  expect(noted()).toEqual(['stop a']);
});

test('it stops nothing that HAProxy does not know', async () => {
  const { urls, note, noted } = await startInstances(true);
  const haproxy = String.raw`cat > /dev/null; printf '# pxname,svname,status\nlatchkey,b,UP\n'`;
  const { code, output } = await roll(
    '--stop',
    note('stop'),
    '--start',
    note('start'),
    '--haproxy',
    haproxy,
    `a=${urls[0]}`,
  );
  expect(code).toBe(1);
  expect(output).toContain('HAProxy uses a: not within 1 s.\nNothing else was stopped.');
  expect(noted()).toEqual(['']);
});

const commands = ['--stop', 'true', '--start', 'true'];

test.each([
  [],
  ['a=http://127.0.0.1:1'],
  [...commands, 'a'],
  [...commands, 'a=http://127.0.0.1:1', 'a=http://127.0.0.1:2'],
  [...commands, '--patience', 'soon', 'a=http://127.0.0.1:1'],
  [...commands, '--unknown', 'a=http://127.0.0.1:1'],
])('it says how to use it, and exits with 2: %j', async (...words) => {
  const { code, output } = await roll(...words.flat());
  expect(code).toBe(2);
  expect(output).toMatch(/^Usage: /);
});
