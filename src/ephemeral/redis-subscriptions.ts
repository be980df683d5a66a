import { heartbeatMilliseconds } from './redis-connection.ts';
import type { ChannelListener, EphemeralStore } from './store.ts';

/** The members of an ioredis connection that are used here. */
export interface SubscriberConnection {
  readonly status: string;
  on(event: 'ready' | 'close', listener: () => void): unknown;
  on(event: 'message', listener: (channel: string, text: string) => void): unknown;
  subscribe(...channels: string[]): Promise<unknown>;
  ping(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

/**
 * Creates subscriptions on a separate connection. Each is live from Redis's acknowledgement until the connection closes. A dead connection
 * that is not closed is detected within two seconds: a ping each second, with a timeout of a second.
 * @param prefix precedes every channel's name, because all databases of a Redis server share its channels
 * @param onFailure called when Redis refuses a subscription
 */
export function createRedisSubscriptions(
  redis: SubscriberConnection,
  prefix: string,
  onFailure: (error: unknown) => void,
): Pick<EphemeralStore, 'subscribe'> & { close(): void } {
  const listeners = new Map<string, ChannelListener[]>();
  /** The live channels: a new set for each connection. */
  let acknowledged = new Set<string>();

  function interrupt(channels: Iterable<string>): void {
    for (const channel of channels) {
      for (const listener of listeners.get(channel) ?? []) listener.interrupted();
    }
  }

  async function subscribe(channels: readonly string[]): Promise<void> {
    if (channels.length === 0 || redis.status !== 'ready') return;
    const live = acknowledged;
    try {
      await redis.subscribe(...channels.map((channel) => prefix + channel));
    } catch (error) {
      onFailure(error);
      return;
    }
    if (live !== acknowledged) return;
    for (const channel of channels) live.add(channel);
    interrupt(channels);
  }

  redis.on('ready', () => void subscribe([...listeners.keys()]));
  redis.on('close', () => {
    acknowledged = new Set();
    interrupt(listeners.keys());
  });
  redis.on('message', (channel, text) => {
    for (const listener of listeners.get(channel.slice(prefix.length)) ?? []) listener.message(text);
  });

  const heartbeat = setInterval(() => {
    if (redis.status !== 'ready') return;
    redis.ping().catch(() => {
      if (redis.status === 'ready') redis.disconnect(true);
    });
    // Subscriptions that Redis refused are tried again.
    void subscribe([...listeners.keys()].filter((channel) => !acknowledged.has(channel)));
  }, heartbeatMilliseconds);
  heartbeat.unref();

  return {
    subscribe(channel, listener) {
      listeners.set(channel, [...(listeners.get(channel) ?? []), listener]);
      if (!acknowledged.has(channel)) void subscribe([channel]);
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
