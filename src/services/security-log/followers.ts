import { newId } from '../../lib/ids.ts';
import { type DeveloperActor, unauthenticated } from '../actor.ts';
import { ServiceError } from '../errors.ts';

/** Maximum number of open streams, per developer and per instance. */
export const followerLimits = { perDeveloper: 20, perProcess: 500 } as const;

/** An open stream: of an application's log, or of a developer's events. */
export interface Follower {
  /** The id of the application or developer. */
  readonly topic: string;
  readonly actor: DeveloperActor;
  /** Set when the stream must end, with the error for the client; null if the client should reconnect. */
  readonly ending: { readonly error: ServiceError | null } | undefined;
  /** True if the credential may have ended since the last check: nothing is sent until it is checked again. */
  readonly needsCheck: boolean;
  /** Call it before the credential is checked. */
  beginCheck(): void;
  /** An id generated at the latest wake-up: a follower that has read up to it has read what it was woken for. */
  readonly wakeId: string;
  /** Call it when ids have restarted at a lower value. */
  restartIds(): void;
  /** Waits until `wakeId` is above this id or the stream must end, but at most this long. */
  wokenBeyond(id: string, milliseconds: number): Promise<void>;
  /** Waits this long, or until the stream must end. */
  pause(milliseconds: number): Promise<void>;
  /** Ends the stream and frees its place. Further calls have no effect. */
  end(error?: ServiceError): void;
}

/** All streams of this instance. */
export interface Followers {
  readonly size: number;
  /**
   * Adds a stream. While the service stops, the new stream has ended already. When all places are taken, the newest
   * stream of the account with the most streams ends with TOO_MANY_SUBSCRIPTIONS, unless the new account would then
   * have as many: otherwise two accounts could end each other's streams alternately. If no account has more than one
   * stream, an account's first stream ends the newest one of the network with the most streams, by the same rule.
   * @param network the client's, from `networkOf`
   * @throws {ServiceError} TOO_MANY_SUBSCRIPTIONS
   */
  open(topic: string, actor: DeveloperActor, network: string): Follower;
  wake(topics: ReadonlySet<string> | 'all'): void;
  /** Makes these developers' streams check their credentials. */
  recheckDevelopers(ids: ReadonlySet<string>): void;
  /**
   * Ends the streams of sessions that were logged out. With `all`, it is unknown which ones: every stream that was
   * opened with a cookie ends without an error, so that a client that is still logged in reconnects and resumes.
   */
  endSessions(tokenHashes: ReadonlySet<string> | 'all'): void;
  /** Ends all streams; later ones end at once. */
  close(): void;
}

export function createFollowers(
  limits: { perDeveloper: number; perProcess: number } = followerLimits,
): Followers {
  const all = new Set<OpenFollower>();
  let closed = false;

  function requireRoom({ developerId }: DeveloperActor, network: string): void {
    const accounts = groupBy(all, ({ actor }) => actor.developerId);
    const own = accounts.get(developerId)?.length ?? 0;
    if (own >= limits.perDeveloper) {
      throw tooMany(
        `Your account has ${own} streams open here, the most that one may. Close one before you open another; one without filters shows all.`,
      );
    }
    if (all.size < limits.perProcess) return;
    const victim = latestOfFullest(accounts, own) ?? (own === 0 ? latestOfNetwork(network) : undefined);
    if (victim === undefined) {
      throw tooMany(
        'As many streams are open here as this service serves at once. Try again later, or page through the log.',
      );
    }
    victim.end(
      tooMany(
        'As many streams are open here as this service serves at once, and this one ended for an account or a network ' +
          'with fewer. Wait before you open it again, or page through the log.',
      ),
    );
  }

  function latestOfNetwork(network: string): OpenFollower | undefined {
    const networks = groupBy(all, (follower) => follower.network);
    return latestOfFullest(networks, networks.get(network)?.length ?? 0);
  }

  return {
    get size() {
      return all.size;
    },
    open(topic, actor, network) {
      if (!closed) requireRoom(actor, network);
      const follower = createFollower(topic, actor, network, () => all.delete(follower));
      if (closed) follower.end();
      else all.add(follower);
      return follower;
    },
    wake(topics) {
      for (const follower of all) {
        if (topics === 'all' || topics.has(follower.topic)) follower.wake(topics === 'all');
      }
    },
    recheckDevelopers(ids) {
      for (const follower of all) if (ids.has(follower.actor.developerId)) follower.wake(true);
    },
    endSessions(tokenHashes) {
      for (const follower of all) {
        const { actor } = follower;
        if (actor.via !== 'cookie') continue;
        if (tokenHashes === 'all') follower.end();
        else if (tokenHashes.has(actor.tokenHash)) follower.end(unauthenticated('cookie'));
      }
    },
    close() {
      closed = true;
      for (const follower of all) follower.end();
    },
  };
}

interface OpenFollower extends Follower {
  readonly network: string;
  wake(mayHaveEnded: boolean): void;
}

/** Each group is in order of opening. */
function groupBy(
  followers: Iterable<OpenFollower>,
  keyOf: (follower: OpenFollower) => string,
): ReadonlyMap<string, readonly OpenFollower[]> {
  const groups = new Map<string, OpenFollower[]>();
  for (const follower of followers) {
    const group = groups.get(keyOf(follower));
    if (group === undefined) groups.set(keyOf(follower), [follower]);
    else group.push(follower);
  }
  return groups;
}

/** The newest stream of the largest group, if that group has more than `own + 1` streams. */
function latestOfFullest(
  groups: ReadonlyMap<string, readonly OpenFollower[]>,
  own: number,
): OpenFollower | undefined {
  let fullest: readonly OpenFollower[] = [];
  for (const group of groups.values()) if (group.length > fullest.length) fullest = group;
  return fullest.length > own + 1 ? fullest.at(-1) : undefined;
}

const tooMany = (message: string) => new ServiceError('TOO_MANY_SUBSCRIPTIONS', message);

function createFollower(
  topic: string,
  actor: DeveloperActor,
  network: string,
  onEnd: () => void,
): OpenFollower {
  let ending: Follower['ending'];
  // Earlier entries may become visible only after this.
  let wakeId = newId();
  let needsCheck = false;
  let resume: (() => void) | undefined;

  const wait = (milliseconds: number, isOver: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      if (isOver()) return resolve();
      const timer = setTimeout(done, milliseconds).unref();
      function done() {
        clearTimeout(timer);
        resume = undefined;
        resolve();
      }
      resume = () => {
        if (isOver()) done();
      };
    });

  return {
    topic,
    actor,
    network,
    get ending() {
      return ending;
    },
    get needsCheck() {
      return needsCheck;
    },
    beginCheck() {
      needsCheck = false;
    },
    get wakeId() {
      return wakeId;
    },
    restartIds() {
      wakeId = newId();
    },
    wokenBeyond: (id: string, milliseconds: number) =>
      wait(milliseconds, () => wakeId > id || ending !== undefined),
    pause: (milliseconds: number) => wait(milliseconds, () => ending !== undefined),
    end(error: ServiceError | null = null) {
      if (ending !== undefined) return;
      ending = { error };
      onEnd();
      resume?.();
    },
    wake(mayHaveEnded: boolean) {
      wakeId = newId();
      needsCheck ||= mayHaveEnded;
      resume?.();
    },
  };
}
