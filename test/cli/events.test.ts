import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runCommandLine } from '../../src/cli/program.ts';
import { newId } from '../../src/lib/ids.ts';
import { serverUrl } from '../setup/database.ts';
import { allEvents, typesOf } from '../setup/events.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

const eventsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const tailOf = ({ developer }: World, ...words: readonly string[]) => [
  'events',
  'tail',
  '--developer',
  developer.email,
  ...words,
];

describe.skipIf(serverUrl === null)('beside a service on a PostgreSQL server, events tail', () => {
  let service: TestServer;
  let world: World;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    service = await startTestServer({ database: 'server' });
    env = { DATABASE_URL: service.databaseEnv.DATABASE_URL ?? '' };
    world = await createWorld(service);
  });
  afterAll(() => service.close());

  /** Runs the command until it has printed this many events, and returns them. */
  async function tail(count: number, ...words: readonly string[]) {
    const enough = new AbortController();
    let text = '';
    const stdout = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        if (eventsIn(text).length >= count) enough.abort();
        done();
      },
    });
    const stderr = new PassThrough().resume();
    const terminal = { env, stdin: new PassThrough(), stdout, stderr, signal: enough.signal };
    expect(await runCommandLine(tailOf(world, ...words), terminal)).toBe(0);
    return eventsIn(text);
  }

  test('prints what there is and what comes, as pages have it', async () => {
    const application = await world.createApplication();
    const printing = tail(3, '--all');
    await application.settings({ version: '2' });
    await application.settings({ version: '3' });
    const printed = await printing;
    expect(printed).toEqual((await allEvents(world.client)).slice(0, printed.length));
    expect(typesOf(printed)).toEqual(['application.created', 'application.changed', 'application.changed']);
    const rest = await tail(1, '--after', printed[0].id, '--types', 'application.*');
    expect(rest).toEqual(printed.slice(1));
  });

  test('refuses what does not exist', async () => {
    const unknown = await runCommand(['events', 'tail', '--developer', 'nobody@example.com'], env);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody@example.com') });
    const expired = await runCommand(tailOf(world, '--after', newId()), env);
    expect(expired).toMatchObject({ code: 1, stderr: expect.stringContaining('no such event') });
    expect(await runCommand(tailOf(world, '--types', 'license.none'), env)).toMatchObject({ code: 2 });
    expect(await runCommand(tailOf(world, '--after', 'garbage'), env)).toMatchObject({ code: 2 });
  });
});

test('of an embedded database that no service uses, events tail prints what is stored, and ends', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-events-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const service = await startTestServer({ env: { DATA_DIR: directory } });
  const world = await createWorld(service);
  await world.createApplication();
  const events = await allEvents(world.client);
  await service.close();
  const run = await runCommand(tailOf(world), { DATA_DIR: directory });
  expect(run).toMatchObject({ code: 0 });
  expect(eventsIn(run.stdout)).toEqual(events);
}, 120_000);
