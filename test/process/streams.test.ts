import { expect, onTestFinished, test } from 'vitest';
import { openEventStream } from '../setup/event-stream.ts';
import { startServiceProcess } from '../setup/process.ts';
import { createWorld } from '../setup/world.ts';

/** What open streams mean to the process: neither their end nor its own may be held up by the other. */

async function start() {
  const service = await startServiceProcess({ DATA_DIR: 'memory:' });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const world = await createWorld({ baseUrl: service.url });
  const { id } = await world.createApplication();
  const query = `subscription { securityLog(applicationId: "${id}") { id event } }`;
  return { service, world, follow: () => openEventStream(world.client, { query }) };
}

test('SIGTERM breaks every open stream off, completing none, and the service ends with 0', async () => {
  const { service, follow } = await start();
  const streams = await Promise.all([follow(), follow(), follow()]);
  // A stream that completes resolves instead.
  const ends = Promise.allSettled(streams.map((stream) => stream.rest()));
  expect(await service.stop()).toBe(0);
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(service.output()).not.toMatch(/"level":(50|60)|Error/);
}, 60_000);

test('readers who leave, early or late, do the service no harm', async () => {
  const { service, world, follow } = await start();
  for (let turn = 0; turn < 15; turn++) {
    const stream = await follow();
    if (turn % 3 === 1) await world.createApplication();
    if (turn % 3 === 2) await stream.next(50).catch(() => null);
    stream.close();
  }
  expect((await fetch(`${service.url}/health`)).status).toBe(200);
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toMatch(/"level":(50|60)|Error/);
}, 60_000);
