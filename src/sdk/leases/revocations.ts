import { decodeUtf8 } from '../../protocol/bytes.ts';
import { revocationsPath } from '../../protocol/v2/constants.ts';
import type { RevocationsStep } from '../../protocol/v2/revocations.ts';
import { failureOf, startDeadline } from '../deadline.ts';
import { type Failure, untrusted } from '../failure.ts';
import { type Http, withJsonBody } from '../http.ts';
import type { Settings } from '../options.ts';
import { refusalOf } from '../refusal.ts';
import { maxTextLength } from '../store/client-store.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { LeaseMemory } from './lease-memory.ts';
import { leaseFailure } from './lease-verdict.ts';
import type { RevocationList } from './revocation-list.ts';

/** A revocation list that the client has stored. */
export interface StoredRevocations {
  readonly kind: 'revocations';
  /** 00:00 UTC of the day on which it was signed. */
  readonly issuedAt: Date;
  /** When a newer list is due. This one still counts after that. */
  readonly expiresAt: Date;
}

export interface Revocations {
  /**
   * Stores a revocation list that was carried to this device. White space in it is ignored. Never rejects; a list that could not be
   * stored is a failure, and counts until the program ends.
   */
  importRevocations(list: string): Promise<StoredRevocations | Failure>;
  /** Fetches the service's revocation list and stores it. Never rejects. */
  fetchRevocations(options?: { readonly signal?: AbortSignal }): Promise<StoredRevocations | Failure>;
}

interface Parts {
  readonly settings: Pick<Settings, 'appId' | 'timeoutMs'>;
  readonly http: Http;
  readonly memory: LeaseMemory;
  readonly revocations: RevocationList;
  readonly clock: LeaseClock;
}

export function createRevocations({ settings, http, memory, revocations, clock }: Parts): Revocations {
  const { appId, timeoutMs } = settings;

  const store = (list: string): Promise<StoredRevocations | Failure> =>
    memory.change<StoredRevocations | Failure>(async (before) => {
      const record = clock.advanced(before);
      const read = revocations.check(list, record, Math.max(record.last, clock.seconds()));
      if (!read.ok) return { record, result: untrusted(messages[read.failed] ?? unsigned) };
      const { rev, iat, exp } = read.claims;
      const isStored = await revocations.write(list);
      const result = {
        kind: 'revocations',
        issuedAt: new Date(iat * 1000),
        expiresAt: new Date(exp * 1000),
      } as const;
      const ifNotStored = leaseFailure('not-stored');
      return {
        // Also if the list was not stored: it counts in this process.
        record: { ...record, revocationsRev: rev, last: Math.max(record.last, iat) },
        result: isStored ? result : ifNotStored,
        ifNotStored,
      };
    });

  async function fetchList(signal: AbortSignal): Promise<StoredRevocations | Failure> {
    const headers = { accept: 'application/jwt' };
    const answer = await http(
      { method: 'GET', path: revocationsPath(appId), headers, maxBytes: maxTextLength },
      signal,
    );
    if (answer.kind === 'failure') return answer;
    if (answer.status !== 200) return refusalOf(withJsonBody(answer));
    return store(decodeUtf8(answer.body) ?? '');
  }

  return {
    importRevocations: (list) => store((typeof list === 'string' ? list : '').replaceAll(/\s/g, '')),
    async fetchRevocations(options) {
      const { signal, end } = startDeadline(timeoutMs, options?.signal);
      try {
        signal.throwIfAborted();
        return await fetchList(signal);
      } catch (thrown) {
        return failureOf(thrown, signal);
      } finally {
        end();
      }
    },
  };
}

const unsigned = "This is no revocation list that is signed with the application's key";
const messages: Readonly<Partial<Record<RevocationsStep, string>>> = {
  exp: 'The revocation list has ended',
  rev: 'The revocation list is older than the one that this program knows',
};
