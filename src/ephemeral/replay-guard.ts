import { type EphemeralStore, StoreUnavailableError } from './store.ts';

/**
 * How long a used nonce is remembered, in seconds.
 *
 * The clock check compares whole seconds: it accepts a timestamp `t` while |floor(now) - t| <= 60, from t - 60 until just
 * before t + 61. An envelope may therefore be accepted for almost 121 s. One more second is for the command to the store,
 * and three for differences between instances' clocks.
 */
export const replayMemorySeconds = 125;

export interface ReplayGuard {
  /**
   * Records a nonce, and returns whether it is new in its session. Call it after the envelope was opened and its timestamp
   * was checked, without an `await` in between.
   * @param sessionTag a short text that is unique to the session
   * @param nonce the decoded bytes, at most 64 (SPEC §6), because a nonce can be encoded in several ways
   * @param epoch the store's epoch when the session was checked; default: the current one. If it has changed since, the
   *   store may have forgotten this nonce
   * @throws {StoreUnavailableError} if the store does not answer: refuse the request (503)
   */
  firstUse(sessionTag: string, nonce: Uint8Array, epoch?: string): Promise<boolean>;
}

/** Creates a guard that refuses the second use of a nonce within its session. */
export function createReplayGuard(store: Pick<EphemeralStore, 'addOnce' | 'epoch'>): ReplayGuard {
  return {
    async firstUse(sessionTag, nonce, epoch = store.epoch) {
      // Base64 has no colon, so different pairs have different keys.
      const key = `replay:${sessionTag}:${Buffer.from(nonce).toString('base64')}`;
      const isNew = await store.addOnce(key, replayMemorySeconds);
      if (store.epoch === epoch) return isNew;
      throw new StoreUnavailableError(
        'The shared store lost its data during the request, so the nonce cannot be checked.',
      );
    },
  };
}
