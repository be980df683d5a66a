import { z } from 'zod';
import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import { unauthenticated } from '../actor.ts';
import type { Followers } from '../security-log/followers.ts';

/** Ends what was opened with a session, on every instance, when somebody logs out of it. */
export interface EndedSessions {
  /** Resolves when the other instances have been told, or cannot be told now. */
  announce(tokenHash: string): Promise<void>;
}

const channel = 'ended-sessions';
const message = z.object({ tokenHashes: z.array(z.string()) });
/** So many logouts that could not be told are kept, the latest. */
const mostUntold = 1_000;

/**
 * A logout is nowhere but in its message: the cookie is a signed token, and no list of them is kept. So a message that
 * cannot be sent now is sent as soon as Redis answers; and an instance that was cut off, and may have missed one, ends
 * what was opened by cookie, without an error: whoever is still logged in comes back and goes on where it stopped.
 */
export function createEndedSessions(
  store: EphemeralStore,
  followers: Followers,
  log: Pick<Logger, 'warn'>,
): EndedSessions {
  const untold = new Set<string>();

  function end(tokenHashes: ReadonlySet<string>): void {
    const concerns: Parameters<Followers['endThose']>[0] = (actor) =>
      actor.via === 'cookie' && tokenHashes.has(actor.tokenHash);
    followers.endThose(concerns, unauthenticated('cookie'));
  }

  if (store.shared) {
    const subscription = store.subscribe(channel, {
      message: (text) => {
        const told = new Set(parse(text));
        for (const hash of told) untold.delete(hash);
        end(told);
      },
      interrupted: () => {
        if (subscription.live) followers.endThose(({ via }) => via === 'cookie');
      },
    });
  }

  return {
    async announce(tokenHash) {
      end(new Set([tokenHash]));
      if (!store.shared) return;
      untold.add(tokenHash);
      for (const oldest of untold) if (untold.size > mostUntold) untold.delete(oldest);
      const print = (tokenHashes: string[]) => JSON.stringify({ tokenHashes });
      await store.publish(channel, print([tokenHash]), print([...untold])).then(
        () => untold.delete(tokenHash),
        (error: unknown) => log.warn({ err: error }, 'Other instances will learn of a logout later'),
      );
    },
  };
}

function parse(text: string): readonly string[] {
  try {
    return message.safeParse(JSON.parse(text)).data?.tokenHashes ?? [];
  } catch {
    return [];
  }
}
