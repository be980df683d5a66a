import type { EphemeralStore } from './store.ts';
import { StoreUnavailableError } from './store.ts';

/**
 * How long a used nonce is remembered.
 *
 * The clock check works on whole seconds: timestamp `t` is accepted while |floor(now) - t| <= 60, that is
 * from t - 60 until just before t + 61. An envelope first used as early as it can be stays acceptable
 * for 121 s less an instant, so the document's 120 s would reopen it for the last second. To the 121 come
 * the second that a command to the store may take between the clock check and the store's own,
 * and three for the difference between the clocks of two instances.
 */
export const replayMemorySeconds = 125;

export interface ReplayGuard {
  /**
   * Whether this nonce is new in its session; it no longer is afterwards. Call it after the envelope
   * opened and its timestamp was checked, with nothing awaited between.
   * @param sessionTag what tells the session from every other one; short, as it is kept
   * @param nonce the decoded bytes, at most 64 of them as SPEC §6 bounds them: two spellings of one nonce are one nonce
   * @param epoch the store's when the session was found good; now, where that has just been. A store that has
   *   forgotten since may have forgotten this nonce
   * @throws {StoreUnavailableError} when the store cannot answer: refuse the request (503)
   */
  firstUse(sessionTag: string, nonce: Uint8Array, epoch?: string): Promise<boolean>;
}

/** Refuses the second use of a nonce within its session and the replay window. */
export function createReplayGuard(store: Pick<EphemeralStore, 'addOnce' | 'epoch'>): ReplayGuard {
  return {
    async firstUse(sessionTag, nonce, epoch = store.epoch) {
      // Base64 has no colon, so no two pairs make one text.
      const pair = `${sessionTag}:${Buffer.from(nonce).toString('base64')}`;
      const isNew = await store.addOnce(`replay:${pair}`, replayMemorySeconds);
      if (store.epoch !== epoch) {
        throw new StoreUnavailableError(
          'The shared store lost its memory during the request, so the nonce cannot be judged.',
        );
      }
      return isNew;
    },
  };
}
