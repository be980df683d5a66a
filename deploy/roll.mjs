#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** Replaces instances one after another: deploy/three-machines.md describes it. */

const usage = `Usage: roll.mjs --stop <command> --start <command> [--haproxy <command>]… <name>=<url>…

  <name>=<url>          an instance: its server name in HAProxy, and the address at which it listens
  --stop, --start       shell commands that stop and start the instance $INSTANCE; --stop ends when it has stopped
  --haproxy <command>   connects standard input and output to the admin socket of an HAProxy; once for each HAProxy:
                        'socat - /run/haproxy/admin.sock', 'ssh b sudo socat - /run/haproxy/admin.sock'
  --backend <name>      the backend with the instances; default latchkey
  --patience <seconds>  how long to wait for one step; default 120
`;

const definition = {
  allowPositionals: true,
  options: {
    stop: { type: 'string' },
    start: { type: 'string' },
    haproxy: { type: 'string', multiple: true, default: [] },
    backend: { type: 'string', default: 'latchkey' },
    patience: { type: 'string', default: '120' },
  },
};

/** Reads the command line. Ends with 2 if it is wrong. */
function readArguments() {
  try {
    const { values, positionals } = parseArgs(definition);
    const read = positionals.map((text) => {
      const [, name, url] = /^([\w.-]+)=(https?:\/\/.+?)\/*$/.exec(text) ?? [];
      if (name === undefined) throw new Error(`"${text}" is not <name>=<url>.`);
      return { name, url };
    });
    if (read.length === 0) throw new Error('There is no <name>=<url>.');
    if (new Set(read.map(({ name }) => name)).size < read.length)
      throw new Error('Two instances have one name.');
    if (!values.stop || !values.start) throw new Error('--stop and --start are required.');
    if (!(Number(values.patience) > 0)) throw new Error('--patience must be a number of seconds.');
    return { options: values, instances: read };
  } catch (error) {
    process.stderr.write(`${usage}\n${error.message}\n`);
    process.exit(2);
  }
}

const { options, instances } = readArguments();

/** Ctrl-C ends the current command, and the roll after it. A second one ends the script at once. */
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    isInterrupted = true;
  });
}

/** Runs a shell command and returns what it prints. */
async function run(command, { input = '', instance = '' } = {}) {
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, INSTANCE: instance },
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  // A command that does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`"${command}" ended with ${code}.\n${output}`);
  return output;
}

/** Waits until a condition holds. */
async function until(what, condition) {
  const deadline = performance.now() + Number(options.patience) * 1000;
  for (;;) {
    if (isInterrupted) throw new Error('Interrupted.');
    if (await condition()) return;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${options.patience} s.`);
    await sleep(200);
  }
}

const get = (url) => fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null);
const isReady = async ({ url }) => (await get(`${url}/health/ready`))?.ok === true;
const isStopped = async ({ url }) => (await get(`${url}/health`)) === null;

/** Sets the administrative state of an instance in every HAProxy. */
async function setState({ name }, state) {
  for (const command of options.haproxy) {
    const answer = (
      await run(command, { input: `set server ${options.backend}/${name} state ${state}\n` })
    ).trim();
    if (answer !== '') throw new Error(`HAProxy refuses: ${answer}`);
  }
}

/** Whether every HAProxy sends requests to an instance. */
async function isInUse({ name }) {
  for (const command of options.haproxy) {
    const [head = '', ...rows] = (await run(command, { input: 'show stat\n' })).split('\n');
    const status = head.split(',').indexOf('status');
    const row = rows
      .map((line) => line.split(','))
      .find(([backend, server]) => backend === options.backend && server === name);
    if (row?.[status] !== 'UP') return false;
  }
  return true;
}

async function replace(instance) {
  const { name } = instance;
  await setState(instance, 'drain');
  // Connections that a proxy has just opened are accepted.
  await sleep(1_000);
  await run(options.stop, { instance: name });
  await until(`${name} has stopped`, () => isStopped(instance));
  await run(options.start, { instance: name });
  await until(`${name} is ready`, () => isReady(instance));
  await setState(instance, 'ready');
  await until(`HAProxy uses ${name}`, () => isInUse(instance));
}

/** The instance that HAProxy may have been told to drain. */
let drained = null;

/** Lets HAProxy use an instance again whose replacement failed. One that is not ready stays out of use. */
async function describeEnd() {
  if (drained === null) return 'Nothing else was stopped.';
  const { name } = drained;
  const rest = 'Later instances were not touched.';
  if (options.haproxy.length === 0) return `${rest} Check ${name}.`;
  if (await isReady(drained)) {
    try {
      await setState(drained, 'ready');
      return `${rest} ${name} is ready, and HAProxy uses it again.`;
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
    }
  }
  return `${rest} When ${name} is ready, send every HAProxy: set server ${options.backend}/${name} state ready`;
}

try {
  for (const instance of instances) {
    // The others take the requests meanwhile.
    for (const each of instances) {
      await until(`${each.name} is ready`, () => isReady(each));
      await until(`HAProxy uses ${each.name}`, () => isInUse(each));
    }
    drained = instance;
    await replace(instance);
    drained = null;
    process.stdout.write(`${instance.name} is replaced.\n`);
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.stderr.write(`${await describeEnd()}\n`);
  process.exitCode = 1;
}
