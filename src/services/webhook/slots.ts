/** How many attempts may be in progress in this process. */
export interface SlotLimits {
  readonly total: number;
  /** Of webhooks that have not proved that they answer. The rest of `total` is for the others. */
  readonly unproven: number;
  /** Of one developer. Each of their webhooks may have one more. */
  readonly perDeveloper: number;
  readonly perWebhook: number;
}

export const slotLimits: SlotLimits = { total: 1_000, unproven: 500, perDeveloper: 20, perWebhook: 5 };

/** A webhook that attempts are made for. */
export interface SlotOwner {
  readonly webhookId: string;
  readonly developerId: string;
  /** Whether its last attempt succeeded. */
  readonly isProven: boolean;
}

/**
 * Counts attempts in progress, so that an endpoint which does not answer holds up no other. A webhook that has not succeeded
 * yet, or not since its last failure, has one attempt at a time, and all of them together leave half of the places to
 * webhooks that answer: accounts are free, and so are endpoints that never answer.
 */
export interface Slots {
  /** How many more attempts of a webhook may begin, at most. */
  room(owner: SlotOwner): number;
  /** Begins an attempt. The returned function ends it; further calls have no effect. */
  take(owner: SlotOwner): () => void;
  readonly size: number;
}

export function createSlots(limits: SlotLimits = slotLimits): Slots {
  const ofWebhook = new Map<string, number>();
  const ofDeveloper = new Map<string, number>();
  let total = 0;
  let unproven = 0;
  const add = (counts: Map<string, number>, key: string, more: number): void => {
    const count = (counts.get(key) ?? 0) + more;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };

  return {
    room({ webhookId, developerId, isProven }) {
      const own = ofWebhook.get(webhookId) ?? 0;
      const inTotal = Math.max(
        0,
        Math.min(limits.total - total, isProven ? limits.total : limits.unproven - unproven),
      );
      if (!isProven) return Math.min(inTotal, Math.max(0, 1 - own));
      const first = own === 0 ? 1 : 0;
      const further = limits.perDeveloper - (ofDeveloper.get(developerId) ?? 0);
      return Math.max(0, Math.min(inTotal, limits.perWebhook - own, Math.max(first, further)));
    },
    take({ webhookId, developerId, isProven }) {
      const count = (more: 1 | -1): void => {
        add(ofWebhook, webhookId, more);
        add(ofDeveloper, developerId, more);
        total += more;
        if (!isProven) unproven += more;
      };
      count(1);
      let isTaken = true;
      return () => {
        if (isTaken) count(-1);
        isTaken = false;
      };
    },
    get size() {
      return total;
    },
  };
}
