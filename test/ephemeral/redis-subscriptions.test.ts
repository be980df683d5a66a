import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import {
  createRedisSubscriptions,
  type SubscriberConnection,
} from '../../src/ephemeral/redis-subscriptions.ts';
import { deferred } from './support.ts';

/** A connection whose state and acknowledgements the test controls. */
class Connection extends EventEmitter implements SubscriberConnection {
  status = 'ready';
  readonly asked: string[][] = [];
  readonly acknowledgements: ReturnType<typeof deferred<void>>[] = [];

  subscribe(...channels: string[]): Promise<void> {
    const acknowledgement = deferred<void>();
    this.asked.push(channels);
    this.acknowledgements.push(acknowledgement);
    return acknowledgement.promise;
  }

  async ping(): Promise<void> {}

  disconnect(): void {}

  become(status: 'ready' | 'close'): void {
    this.status = status;
    this.emit(status);
  }
}

async function acknowledge(connection: Connection, index: number): Promise<void> {
  connection.acknowledgements[index]?.resolve();
  await new Promise(setImmediate);
}

function subscribed() {
  const connection = new Connection();
  const failures: unknown[] = [];
  const subscriptions = createRedisSubscriptions(connection, 'test:', (error) => failures.push(error));
  const heard: string[] = [];
  const subscription = subscriptions.subscribe('channel', {
    message: (text) => heard.push(text),
    interrupted: () => heard.push(subscription.live ? '(live)' : '(down)'),
  });
  return { connection, failures, heard, subscription, close: () => subscriptions.close() };
}

test('a channel is live from its acknowledgement until the connection closes, and reports both', async () => {
  const { connection, heard, subscription, close } = subscribed();
  expect(connection.asked).toEqual([['test:channel']]);
  expect(subscription.live).toBe(false);
  await acknowledge(connection, 0);
  expect(subscription.live).toBe(true);
  connection.emit('message', 'test:channel', 'hello');
  connection.emit('message', 'test:other', 'not for us');
  connection.become('close');
  expect(subscription.live).toBe(false);
  expect(heard).toEqual(['(live)', 'hello', '(down)']);
  close();
});

test('after a reconnection it is live only after the new connection has acknowledged it', async () => {
  const { connection, heard, subscription, close } = subscribed();
  await acknowledge(connection, 0);
  connection.become('close');
  connection.become('ready');
  expect(connection.asked).toEqual([['test:channel'], ['test:channel']]);
  expect(subscription.live).toBe(false);
  await acknowledge(connection, 1);
  expect(subscription.live).toBe(true);
  expect(heard).toEqual(['(live)', '(down)', '(live)']);
  close();
});

test('an acknowledgement that arrives after its connection was replaced is ignored', async () => {
  const { connection, subscription, close } = subscribed();
  connection.become('close');
  connection.become('ready');
  await acknowledge(connection, 0);
  expect(subscription.live).toBe(false);
  await acknowledge(connection, 1);
  expect(subscription.live).toBe(true);
  close();
});

test('a refused subscription is reported and not live', async () => {
  const { connection, failures, subscription, close } = subscribed();
  connection.acknowledgements[0]?.reject(new Error('NOPERM'));
  await new Promise(setImmediate);
  expect(failures).toHaveLength(1);
  expect(subscription.live).toBe(false);
  close();
});
