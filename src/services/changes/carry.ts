import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import { type Change, type Changes, change } from './change.ts';

/**
 * An entry of the security log that may still become visible: its id was assigned, and its transaction or batch has not
 * ended. Followers wait for it.
 */
const pendingEntry = z.object({
  /** Null: followers of every application wait. */
  applicationId: z.string().nullable(),
  id: z.string(),
});
export type PendingEntry = Readonly<z.output<typeof pendingEntry>>;

const from = z.string();
/** What instances tell each other: a change, or, as `holds`, the sender's entries that become visible late. */
const message = z.union([change.extend({ from }), z.object({ from, holds: z.array(pendingEntry) })]);
type Message = z.output<typeof message>;

const channel = 'changes';

/** Whether the other instances have received a change. If not, they find it in the database. */
export type Told = 'told' | 'not-told';

export interface CarryListener {
  /** Gets `all` after an interruption, and for a message that cannot be parsed, such as one of a later version. */
  changed(changes: Changes): void;
  /** Replaces what the instance announced before. */
  pending(instance: string, entries: readonly PendingEntry[]): void;
}

/** A channel over which instances tell each other at once what changed. Delivery is not guaranteed. */
export interface Carry {
  /** True while subscribed: messages that are sent from now on arrive here. */
  readonly isLive: boolean;
  /** Never rejects. */
  send(changes: readonly Change[]): Promise<Told>;
  sendPending(entries: readonly PendingEntry[]): Promise<Told>;
}

export function createCarry(
  store: Pick<EphemeralStore, 'publish' | 'subscribe'>,
  log: Pick<Logger, 'debug'>,
  listener: CarryListener,
): Carry {
  const self = randomUUID();

  async function publish(messages: readonly Message[]): Promise<Told> {
    try {
      await Promise.all(messages.map((one) => store.publish(channel, JSON.stringify(one))));
      return 'told';
    } catch (error) {
      log.debug({ err: error }, 'Redis did not take a message for other instances');
      return 'not-told';
    }
  }

  const subscription = store.subscribe(channel, {
    message(text) {
      const told = parse(text);
      if (told === null) listener.changed('all');
      else if (told.from === self) return;
      else if ('holds' in told) listener.pending(told.from, told.holds);
      else listener.changed([told]);
    },
    // Nothing cached is served during the interruption. After it, messages may have been missed.
    interrupted() {
      if (subscription.live) listener.changed('all');
    },
  });

  return {
    get isLive() {
      return subscription.live;
    },
    send: (changes) => publish(changes.map((one) => ({ from: self, ...one }))),
    sendPending: (entries) => publish([{ from: self, holds: [...entries] }]),
  };
}

function parse(text: string): Message | null {
  try {
    return message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
