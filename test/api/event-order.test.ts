import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createApiKey } from '../graphql/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { allEvents, idsOf, pageOfEvents, type ShownEvent } from '../setup/events.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { allowLoopback, createWebhook, startReceiver } from '../setup/webhook-receiver.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { noLimits } from './support.ts';

// The embedded database has one connection and hides every race, so these need a server, with several instances on it.
const isPossible = process.env.TEST_DATABASE_URL !== undefined && process.env.TEST_DATABASE_KIND === 'server';

describe.skipIf(!isPossible)('with three instances,', () => {
  let all: readonly TestServer[];
  let one: TestServer;
  beforeAll(async () => {
    const env = { ...noLimits, ...allowLoopback };
    one = await startTestServer({ database: 'server', env });
    const beside = () => startTestServer({ beside: one, env });
    all = [one, await beside(), await beside()];
  });
  afterAll(async () => {
    for (const server of all.toReversed()) await server.close();
  });

  let world: World;
  let application: SeededApplication;
  /** The developer, asking each instance. */
  let clients: readonly ApiClient[];
  beforeEach(async () => {
    world = await createWorld(one);
    application = await world.createApplication();
    const { apiKey } = await createApiKey(world.client);
    clients = all.map(({ baseUrl }) => new ApiClient(baseUrl, { bearer: apiKey }));
  });
  const at = (turn: number) => clients[turn % clients.length] ?? world.client;

  /** Lets writers at all instances each change their license this many times. @returns the number of changes */
  async function write(writers: number, changes: number): Promise<number> {
    const licenses = await application.mint({ amount: writers });
    const done = await Promise.all(
      licenses.map(async ({ id }, writer) => {
        for (let turn = 0; turn < changes; turn += 1) {
          const verb = turn % 2 === 0 ? 'suspend' : 'reinstate';
          const answer = await at(writer + turn).post(`/api/v1/licenses/${id}/${verb}`);
          expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        }
        return changes;
      }),
    );
    return done.reduce((sum, count) => sum + count, 0);
  }

  const follow = async (client: ApiClient, after: string | null) => {
    const stream = await openEventStream(client, {
      query: 'subscription ($after: ID) { events(after: $after) { id sequence } }',
      variables: { after },
    });
    onTestFinished(() => stream.close());
    return stream;
  };

  test('every reader gets what twenty writers do at once: all of it, once, in one order', async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    await createWebhook(world.client, { url: receiver.url() });
    const before = await allEvents(world.client);
    const after = before.at(-1)?.id ?? null;
    const streams = await Promise.all(clients.map((client) => follow(client, after)));
    // One event of the mint.
    const expected = 20 * 6 + 1;
    /** Reads pages while the writers write. */
    const pull = async (client: ApiClient) => {
      const found: ShownEvent[] = [];
      for (let cursor = after; found.length < expected; ) {
        const page = await pageOfEvents(client, { after: cursor, wait: 5, limit: 7 });
        found.push(...page.events);
        cursor = page.nextCursor;
      }
      return found;
    };
    const reading = clients.map(pull);
    expect(await write(20, 6)).toBe(expected - 1);
    const [first = [], ...others] = await Promise.all(reading);
    expect(first.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: expected }, (_, index) => before.length + 1 + index),
    );
    for (const other of others) expect(other).toEqual(first);
    for (const stream of streams)
      expect(idsOf(await stream.take<ShownEvent>(expected))).toEqual(idsOf(first));
    expect(await allEvents(world.client, after)).toEqual(first);
    // The webhook's own creation may be its first event.
    const sent = () => receiver.received.map(({ event }) => event.id).filter((id) => id !== after);
    await vi.waitFor(() => expect(sent().length).toBeGreaterThanOrEqual(expected), { timeout: 60_000 });
    expect(sent()).toEqual(idsOf(first));
  });

  test('the events of one license are in the order of its changes, whoever makes them', async () => {
    const { id } = await application.mintOne();
    const { nextCursor: after } = await pageOfEvents(world.client, { limit: 200 });
    // Most are refused: which one is possible depends on the one before.
    await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        at(turn).post(`/api/v1/licenses/${id}/${turn % 2 === 0 ? 'suspend' : 'reinstate'}`),
      ),
    );
    const told = await allEvents(world.client, after);
    expect(told.length).toBeGreaterThan(0);
    expect(told.map(({ type }) => type)).toEqual(
      told.map((_, index) => (index % 2 === 0 ? 'license.suspended' : 'license.reinstated')),
    );
    const { body } = await world.client.get(`/api/v1/licenses/${id}`);
    expect(told.at(-1)?.data.status).toBe((body as { license: { status: string } }).license.status);
  });

  /** Reads each few events by a connection of their own, by turns as a page and as a stream, while writers write. */
  async function reconnect(times: number, writers: number, changes: number): Promise<void> {
    const { nextCursor: start } = await pageOfEvents(world.client, { limit: 200 });
    const writing = write(writers, changes);
    const found: { id: string; sequence: number }[] = [];
    let after = start;
    for (let turn = 0; turn < times; turn += 1) {
      if (turn % 4 === 3 && found.length < writers * changes) {
        const stream = await openEventStream(at(turn), {
          query: 'subscription ($after: ID) { events(after: $after) { id sequence } }',
          variables: { after },
        });
        found.push(...(await stream.take<ShownEvent>(1)));
        stream.close();
        after = found.at(-1)?.id ?? after;
      } else {
        const page = await pageOfEvents(at(turn), { after, limit: 1 + (turn % 5) });
        found.push(...page.events);
        after = page.nextCursor;
      }
    }
    await writing;
    found.push(...(await allEvents(world.client, after)));
    expect(idsOf(found)).toEqual(idsOf(await allEvents(world.client, start)));
    expect(found).toHaveLength(writers * changes + 1);
  }

  test('a reader who comes back forty times misses nothing and gets nothing twice', () =>
    reconnect(40, 6, 8));

  test(
    'a reader who comes back a thousand times misses nothing and gets nothing twice',
    { tags: 'slow' },
    () => reconnect(1_000, 8, 100),
  );
});
