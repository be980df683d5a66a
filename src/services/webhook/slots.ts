/** How many attempts may be in progress in this process. */
export interface SlotLimits {
  readonly total: number;
  /** Of webhooks that have not proved that they answer. The rest of `total` is for the others. */
  readonly unproven: number;
  /** Tests of one developer. */
  readonly testsPerDeveloper: number;
}

export const slotLimits: SlotLimits = { total: 1_000, unproven: 500, testsPerDeveloper: 10 };

/** A webhook that attempts are made for. */
export interface SlotOwner {
  readonly webhookId: string;
  /** Whether its last attempt succeeded. */
  readonly isProven: boolean;
}

/** Ends what took a slot. Further calls have no effect. */
export type Release = () => void;

/**
 * Counts attempts in progress, so that an endpoint which does not answer holds up no other. Each webhook has one at a time.
 * Those that have not succeeded yet, or not since their last failure, together leave half of the slots to webhooks that
 * answer: accounts are free, and so are endpoints that never answer.
 */
export interface Slots {
  /** Begins to serve a webhook. Null if it is being served, or if there is no slot. */
  serve(owner: SlotOwner): Release | null;
  /** Begins a test. Null if the developer has too many, or if there is no slot. */
  test(developerId: string): Release | null;
}

export function createSlots(limits: SlotLimits = slotLimits): Slots {
  const served = new Set<string>();
  const tests = new Map<string, number>();
  let total = 0;
  let unproven = 0;

  /** Takes a slot of all; `end` undoes what the caller counts beside it. */
  function take(end: () => void): Release {
    let isTaken = true;
    total += 1;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      total -= 1;
      end();
    };
  }

  return {
    serve({ webhookId, isProven }) {
      if (served.has(webhookId) || total >= limits.total) return null;
      if (!isProven && unproven >= limits.unproven) return null;
      served.add(webhookId);
      if (!isProven) unproven += 1;
      return take(() => {
        served.delete(webhookId);
        if (!isProven) unproven -= 1;
      });
    },
    test(developerId) {
      const own = tests.get(developerId) ?? 0;
      if (own >= limits.testsPerDeveloper || total >= limits.total) return null;
      tests.set(developerId, own + 1);
      return take(() => {
        const left = (tests.get(developerId) ?? 1) - 1;
        if (left === 0) tests.delete(developerId);
        else tests.set(developerId, left);
      });
    },
  };
}
