import { newId } from '../../lib/ids.ts';
import type { DeveloperActor } from '../actor.ts';
import { ServiceError } from '../errors.ts';

/** The most that follow at once: of one developer, and on one instance. */
export const followerLimits = { perDeveloper: 20, perProcess: 500 } as const;

/** One who follows an application's log. */
export interface Follower {
  readonly applicationId: string;
  readonly actor: DeveloperActor;
  /** Set once it has to stop, with the error to say; null: without one. */
  readonly ending: { readonly error: ServiceError | null } | undefined;
  /** Whether the credential may have ended since it was last asked for: nothing more is given before it is. */
  readonly isDoubted: boolean;
  /** To be called before the credential is asked for. */
  clearDoubt(): void;
  /** An id that was made when the latest news came: whoever has read up to it has read the news. */
  readonly newsId: string;
  /** Waits until there is news beyond this id, until it has to end, or for so many milliseconds. */
  newsBeyond(id: string, milliseconds: number): Promise<void>;
  /** Waits so long, or until it has to end. */
  pause(milliseconds: number): Promise<void>;
  /** Ends it, and lets go of everything. Ending it again changes nothing. */
  end(error?: ServiceError): void;
}

/** All who follow on this instance. */
export interface Followers {
  readonly size: number;
  /**
   * Adds one. While the service stops, it is one that has ended already.
   * @throws {ServiceError} TOO_MANY_SUBSCRIPTIONS
   */
  open(applicationId: string, actor: DeveloperActor): Follower;
  wakeApplications(ids: ReadonlySet<string> | 'all'): void;
  /** Has these developers' followers look at their credential. */
  doubtDevelopers(ids: ReadonlySet<string>): void;
  /** Ends those that `concerns` says. */
  endThose(concerns: (actor: DeveloperActor) => boolean, error?: ServiceError): void;
  /** Ends all, and every later one at once. */
  close(): void;
}

export function createFollowers(
  limits: { perDeveloper: number; perProcess: number } = followerLimits,
): Followers {
  const all = new Set<Follower & { wake(doubted: boolean): void }>();
  let closed = false;

  function requireRoom({ developerId }: DeveloperActor): void {
    let own = 0;
    for (const { actor } of all) if (actor.developerId === developerId) own += 1;
    if (own >= limits.perDeveloper) {
      throw tooMany(
        `Your account has ${own} streams open here, the most that one may. Close one before you open another; one without filters shows all.`,
      );
    }
    if (all.size >= limits.perProcess) {
      throw tooMany(
        'As many streams are open here as this service serves at once. Try again later, or page through the log.',
      );
    }
  }

  return {
    get size() {
      return all.size;
    },
    open(applicationId, actor) {
      if (!closed) requireRoom(actor);
      const follower = createFollower(applicationId, actor, () => all.delete(follower));
      if (closed) follower.end();
      else all.add(follower);
      return follower;
    },
    wakeApplications(ids) {
      for (const follower of all) {
        if (ids === 'all' || ids.has(follower.applicationId)) follower.wake(ids === 'all');
      }
    },
    doubtDevelopers(ids) {
      for (const follower of all) if (ids.has(follower.actor.developerId)) follower.wake(true);
    },
    endThose(concerns, error) {
      for (const follower of all) if (concerns(follower.actor)) follower.end(error);
    },
    close() {
      closed = true;
      for (const follower of all) follower.end();
    },
  };
}

const tooMany = (message: string) => new ServiceError('TOO_MANY_SUBSCRIPTIONS', message);

function createFollower(applicationId: string, actor: DeveloperActor, onEnd: () => void) {
  let ending: Follower['ending'];
  // What came before it was opened may become visible only now.
  let newsId = newId();
  let isDoubted = false;
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
    applicationId,
    actor,
    get ending() {
      return ending;
    },
    get isDoubted() {
      return isDoubted;
    },
    clearDoubt() {
      isDoubted = false;
    },
    get newsId() {
      return newsId;
    },
    newsBeyond: (id: string, milliseconds: number) =>
      wait(milliseconds, () => newsId > id || ending !== undefined),
    pause: (milliseconds: number) => wait(milliseconds, () => ending !== undefined),
    end(error: ServiceError | null = null) {
      if (ending !== undefined) return;
      ending = { error };
      onEnd();
      resume?.();
    },
    wake(mayHaveEnded: boolean) {
      newsId = newId();
      isDoubted ||= mayHaveEnded;
      resume?.();
    },
  };
}
