import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EphemeralStore } from '../../ephemeral/store.ts';
import { newId, timeOfId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { Hold } from './watermark.ts';

/** What instances tell each other of their logs. */
const message = z.object({
  from: z.string(),
  /** Whose log has new entries. */
  applications: z.union([z.literal('all'), z.array(z.string())]),
  /** Whose credentials may have ended. */
  developers: z.array(z.string()),
  /** Entries that become visible late; each message replaces what its sender said before. */
  holds: z.array(z.object({ applicationId: z.string().nullable(), id: z.string() })),
});
type Message = z.infer<typeof message>;

const channel = 'security-log';
/** Beyond so many, a message says "all", so that it stays small. */
const mostNames = 500;
/** An entry that has not become visible after so many milliseconds is announced to the other instances. */
const announceAfter = 400;
const announceEvery = 250;
/** What another instance announced counts for so long: it may have died since. */
const holdLifetime = 2_000;
/** Nobody is waited for longer than this: an instance whose database is away must not silence the others'. */
const longestHold = 30_000;

/** Whom news concerns; `all` where it cannot be told. */
export interface NewsListener {
  applications(ids: ReadonlySet<string> | 'all'): void;
  developers(ids: ReadonlySet<string>): void;
}

/** Tells followers, here and on the other instances, to look again. What is lost they find at their next slow look. */
export interface SecurityLogNews {
  /** These applications' logs have new entries. Returns at once; what comes close together is told together. */
  tell(applicationIds: Iterable<string>): void;
  /** Credentials of this developer may have ended. */
  doubt(developerId: string): void;
  /** What other instances hold back. */
  heldElsewhere(): Iterable<Hold>;
  close(): void;
}

export interface SecurityLogNewsOptions {
  readonly store: EphemeralStore;
  readonly log: Pick<Logger, 'debug'>;
  readonly listener: NewsListener;
  /** What this instance has not made visible yet. */
  readonly holds: () => readonly Hold[];
}

export function createSecurityLogNews({
  store,
  log,
  listener,
  holds,
}: SecurityLogNewsOptions): SecurityLogNews {
  const self = randomUUID();
  const others = new Map<string, { readonly holds: readonly Hold[]; readonly until: number }>();
  const here = { applications: new Set<string>(), developers: new Set<string>() };
  const elsewhere = { applications: new Set<string>(), developers: new Set<string>() };
  let scheduled = false;
  let publishing = false;
  let announced = false;

  const publish = async (content: Omit<Message, 'from'>): Promise<void> => {
    const text = JSON.stringify({ from: self, ...content } satisfies Message);
    await store
      .publish(channel, text)
      .catch((error: unknown) => log.debug({ err: error }, 'Followers elsewhere will see news later'));
  };

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      listener.applications(take(here.applications));
      listener.developers(take(here.developers));
      if (store.shared) void publishAll();
    });
  }

  /** One message at a time. What comes while Redis is slow goes with the next, and followers here do not wait for it. */
  async function publishAll(): Promise<void> {
    if (publishing) return;
    publishing = true;
    while (elsewhere.applications.size + elsewhere.developers.size > 0) {
      const [named, doubted] = [take(elsewhere.applications), take(elsewhere.developers)];
      const many = named.size + doubted.size > mostNames;
      await publish({
        applications: many ? 'all' : [...named],
        // "All" has every follower look again, and a look asks for the credential first.
        developers: many ? [] : [...doubted],
        holds: late(),
      });
    }
    publishing = false;
  }

  /** The entries of this instance that take longer than others wait for by themselves, by the clock of the ids. */
  function late(): Hold[] {
    const all = holds();
    if (all.length === 0) return [];
    const now = timeOfId(newId());
    const found = all.filter(({ id }) => now - timeOfId(id) > announceAfter);
    const oldest = found.reduce((low, { id }) => (id < low ? id : low), found[0]?.id ?? '');
    return found.length > mostNames ? [{ applicationId: null, id: oldest }] : found;
  }

  const announce = (): void => {
    const found = late();
    // An empty one once, so that the others go on at once.
    if (found.length > 0 || announced) {
      announced = found.length > 0;
      void publish({ applications: [], developers: [], holds: found });
    }
  };

  function receive(text: string): void {
    const told = parse(text);
    if (told === null) {
      listener.applications('all');
      return;
    }
    if (told.from === self) return;
    const before = others.get(told.from);
    if (told.holds.length > 0)
      others.set(told.from, { holds: told.holds, until: performance.now() + holdLifetime });
    else others.delete(told.from);
    const wasReleased = before !== undefined && JSON.stringify(before.holds) !== JSON.stringify(told.holds);
    listener.applications(told.applications === 'all' || wasReleased ? 'all' : new Set(told.applications));
    listener.developers(new Set(told.developers));
  }

  if (store.shared) {
    store.subscribe(channel, { message: receive, interrupted: () => listener.applications('all') });
  }
  const timer = store.shared ? setInterval(announce, announceEvery).unref() : undefined;

  return {
    tell(ids) {
      for (const id of ids) {
        here.applications.add(id);
        elsewhere.applications.add(id);
      }
      if (here.applications.size > 0) schedule();
    },
    doubt(developerId) {
      here.developers.add(developerId);
      elsewhere.developers.add(developerId);
      schedule();
    },
    *heldElsewhere() {
      const oldest = Date.now() - longestHold;
      for (const [instance, held] of others) {
        if (held.until < performance.now()) others.delete(instance);
        else yield* held.holds.filter(({ id }) => timeOfId(id) > oldest);
      }
    },
    close: () => clearInterval(timer),
  };
}

/** Empties a set, and answers what was in it. */
function take(names: Set<string>): ReadonlySet<string> {
  const taken = new Set(names);
  names.clear();
  return taken;
}

function parse(text: string): Message | null {
  try {
    return message.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
