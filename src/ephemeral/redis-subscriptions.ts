import { heartbeatMilliseconds } from './redis-connection.ts';
import type { ChannelListener, Subscription } from './store.ts';

/** What is needed of a client connection. */
export interface SubscriberConnection {
  readonly status: string;
  on(event: 'ready' | 'close', listener: () => void): unknown;
  on(event: 'message', listener: (channel: string, text: string) => void): unknown;
  subscribe(...channels: string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

/** Channels on a separate connection. Listeners learn when messages may have been missed. */
export interface RedisSubscriptions {
  subscribe(channel: string, listener: ChannelListener): Subscription;
  close(): void;
}

/**
 * A channel is live from Redis's acknowledgement until the connection closes. A partition that closes
 * nothing is noticed within two seconds: a heartbeat each second, with a second to answer.
 * @param prefix stands before every channel's name; channels are shared by all databases of a Redis server
 */
export function createRedisSubscriptions(
  redis: SubscriberConnection,
  prefix: string,
  onFailure: (error: unknown) => void,
): RedisSubscriptions {
  const listeners = new Map<string, ChannelListener[]>();
  const acknowledged = new Set<string>();
  let connection = 0;

  function interrupt(channels: Iterable<string>): void {
    for (const channel of channels) {
      for (const listener of listeners.get(channel) ?? []) listener.interrupted();
    }
  }

  async function ask(channels: readonly string[]): Promise<void> {
    if (channels.length === 0 || redis.status !== 'ready') return;
    const asking = connection;
    try {
      await redis.subscribe(...channels.map((channel) => prefix + channel));
    } catch (error) {
      onFailure(error);
      return;
    }
    if (asking !== connection) return;
    for (const channel of channels) acknowledged.add(channel);
    interrupt(channels);
  }

  redis.on('ready', () => {
    connection += 1;
    void ask([...listeners.keys()]);
  });
  redis.on('close', () => {
    connection += 1;
    acknowledged.clear();
    interrupt(listeners.keys());
  });
  redis.on('message', (channel: string, text: string) => {
    for (const listener of listeners.get(channel.slice(prefix.length)) ?? []) listener.message(text);
  });

  const heartbeat = setInterval(() => {
    if (redis.status !== 'ready') return;
    redis.ping().catch(() => {
      if (redis.status === 'ready') redis.disconnect(true);
    });
    // A channel that Redis refused is asked for again.
    void ask([...listeners.keys()].filter((channel) => !acknowledged.has(channel)));
  }, heartbeatMilliseconds);
  heartbeat.unref();

  return {
    subscribe(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
      if (!acknowledged.has(channel)) void ask([channel]);
      return {
        get live() {
          return redis.status === 'ready' && acknowledged.has(channel);
        },
      };
    },
    close() {
      clearInterval(heartbeat);
      redis.disconnect();
    },
  };
}
