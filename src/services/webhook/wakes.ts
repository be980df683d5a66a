/** Tells the engine when to look, and at whose webhooks. */
export interface Wakes {
  /** Asks for a look at the webhooks of these developers. */
  wake(developerIds: ReadonlySet<string> | 'all'): void;
  /** Waits until it is time to look. Null after `stop`. */
  next(): Promise<readonly string[] | 'all' | null>;
  stop(): void;
}

/** In milliseconds. Deliveries become due without a change, and a message may be lost. */
const lookEvery = 1_000;
/** The shortest time between two looks: a service with many changes does not look after each. */
const shortestPause = 100;
/** A look at all webhooks takes at most this part of the time. */
const shareOfTime = 0.25;
/** If more developers wait, all webhooks are looked at. */
const maxWoken = 500;

export function createWakes(): Wakes {
  let woken: Set<string> | 'all' = 'all';
  let isStopped = false;
  let handedOutAt = Number.NEGATIVE_INFINITY;
  let lookedAtAll = Number.NEGATIVE_INFINITY;
  let allDueAt = Number.NEGATIVE_INFINITY;
  let resume = (): void => undefined;

  const isWoken = (): boolean => woken === 'all' || woken.size > 0;
  const waitMilliseconds = (): number => {
    const now = performance.now();
    const soonest = handedOutAt + shortestPause - now;
    return Math.max(soonest, isWoken() ? 0 : allDueAt - now);
  };
  const wait = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    wake(developerIds) {
      if (developerIds === 'all') woken = 'all';
      else if (woken !== 'all') for (const id of developerIds) woken.add(id);
      if (woken !== 'all' && woken.size > maxWoken) woken = 'all';
      resume();
    },
    async next() {
      const now = performance.now();
      if (lookedAtAll > Number.NEGATIVE_INFINITY) {
        // Called again when the look has ended.
        allDueAt = Math.max(lookedAtAll + lookEvery, now + (now - lookedAtAll) / shareOfTime);
        lookedAtAll = Number.NEGATIVE_INFINITY;
      }
      for (let left = waitMilliseconds(); left > 0 && !isStopped; left = waitMilliseconds()) await wait(left);
      if (isStopped) return null;
      handedOutAt = performance.now();
      const scope = woken === 'all' || handedOutAt >= allDueAt ? 'all' : [...woken];
      if (scope === 'all') lookedAtAll = handedOutAt;
      woken = new Set();
      return scope;
    },
    stop() {
      isStopped = true;
      resume();
    },
  };
}
