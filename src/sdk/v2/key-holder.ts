import { decodeBase64, encodeBase64 } from '../../protocol/base64.ts';
import { keyMediaType, keyPath } from '../../protocol/v2/constants.ts';
import type { ServiceKey } from '../../protocol/v2/key-statement.ts';
import { learnStatement } from '../../protocol/v2/learn-statement.ts';
import { type Failure, untrusted } from '../failure.ts';
import { type Http, withJsonBody } from '../http.ts';
import type { Settings } from '../options.ts';
import { refusalOf } from '../refusal.ts';
import { shareTask } from '../shared-task.ts';

/** A key of the service that its application has signed. */
export interface HeldKey {
  readonly kind: 'key';
  readonly key: ServiceKey;
}

export interface KeyHolder {
  /** The key that is held, else the stored one, else the service's. Calls at the same time share one question. */
  current(signal: AbortSignal): Promise<HeldKey | Failure>;
  /** The service's key, after it did not know the given one. */
  renew(unknown: HeldKey, signal: AbortSignal): Promise<HeldKey | Failure>;
  /** Takes a statement that the service has sent unasked. One that is not newer, or not valid, has no effect. */
  learn(statement: Uint8Array): Promise<void>;
}

type KeyHolderSettings = Pick<Settings, 'appId' | 'publicKey' | 'store' | 'now'>;

export function createKeyHolder(http: Http, { appId, publicKey, store, now }: KeyHolderSettings): KeyHolder {
  const name = `${appId}/keys`;
  let held: HeldKey | null = null;
  /** The `notBefore` of the key about which this device's clock has prompted a question. */
  let doubted: number | null = null;

  /** Holds what a statement says; a failure if it is not signed for this application, or older than the one held. */
  function accept(statement: Uint8Array): HeldKey | Failure {
    const key = learnStatement(statement, { appId, publicKey, held: held?.key ?? null });
    if (key === null) {
      return untrusted(
        "The service's key is not signed with the application's key, or older than the last one",
      );
    }
    held = { kind: 'key', key };
    return held;
  }

  async function acceptAndStore(statement: Uint8Array): Promise<HeldKey | Failure> {
    const accepted = accept(statement);
    if (accepted.kind === 'key') await store.write(name, encodeBase64(statement));
    return accepted;
  }

  const fetchShared = shareTask(async (signal) => {
    const headers = { accept: keyMediaType };
    const answer = await http({ method: 'GET', path: keyPath(appId), headers }, signal);
    if (answer.kind === 'failure') return answer;
    if (answer.status !== 200) return refusalOf(withJsonBody(answer));
    return acceptAndStore(answer.body);
  });

  const loadShared = shareTask(async () => {
    const stored = decodeBase64((await store.read(name)) ?? '');
    return stored === null ? null : accept(stored);
  });

  /** The clock may prompt a question, once for each key. It is no reason to refuse a key, as it may be wrong. */
  function seemsOutdated({ key }: HeldKey): boolean {
    if (doubted === key.notBefore || now() < key.notAfter * 1000) return false;
    doubted = key.notBefore;
    return true;
  }

  return {
    async current(signal) {
      if (held === null) await loadShared(signal);
      if (held === null) return fetchShared(signal);
      const known: HeldKey = held;
      if (!seemsOutdated(known)) return known;
      const fetched = await fetchShared(signal);
      return fetched.kind === 'key' ? fetched : known;
    },
    async renew(unknown, signal) {
      // Another call may have renewed it meanwhile.
      return held !== null && held !== unknown ? held : fetchShared(signal);
    },
    async learn(statement) {
      await acceptAndStore(statement);
    },
  };
}
