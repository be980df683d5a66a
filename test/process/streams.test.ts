import { expect, onTestFinished, test } from 'vitest';
import { openEventStream } from '../setup/event-stream.ts';
import { startServiceProcess } from '../setup/process.ts';
import { createWorld } from '../setup/world.ts';

/** Open streams must not delay the end of the process, and their end must not harm it. */

async function start() {
  const service = await startServiceProcess({ DATA_DIR: 'memory:' });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const world = await createWorld({ baseUrl: service.url });
  const { id } = await world.createApplication();
  const query = `subscription { securityLog(applicationId: "${id}") { id event } }`;
  return { service, world, follow: () => openEventStream(world.client, { query }) };
}

test('SIGTERM breaks off every open stream without completing it, and the service exits with 0', async () => {
  const { service, follow } = await start();
  const streams = await Promise.all([follow(), follow(), follow()]);
  // A stream that completes would resolve.
  const ends = Promise.allSettled(streams.map((stream) => stream.rest()));
  expect(await service.stop()).toBe(0);
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(service.output()).not.toMatch(/"level":(50|60)|Error/);
}, 60_000);

test('readers that disconnect early or late do not harm the service', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
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
});
