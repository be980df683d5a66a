import {
  type RevocationsClaims,
  type RevocationsResult,
  readRevocations,
} from '../../protocol/v2/revocations.ts';
import type { Settings } from '../options.ts';
import type { LeaseRecord } from './lease-record.ts';

export interface RevocationList {
  /** The newest list that this client has accepted; null if it never accepted one. */
  read(record: LeaseRecord): Promise<RevocationsClaims | 'missing' | null>;
  /** Checks a list against what the client knows. */
  check(list: string, record: LeaseRecord): RevocationsResult;
  write(list: string): Promise<void>;
}

/** The newest revocation list, in the store. */
export function createRevocationList(
  settings: Pick<Settings, 'appId' | 'publicKey' | 'store'>,
): RevocationList {
  const { appId, publicKey, store } = settings;
  const name = `${appId}/revocations`;
  // A list never ends for this client: what it revokes stays revoked. Its `exp` says when a newer one is due.
  const readFrom = (list: string, seenRev: number) =>
    readRevocations(list, { appId, publicKey, time: 0, seenRev });
  return {
    async read({ revocationsRev }) {
      if (revocationsRev === 0) return null;
      const read = readFrom((await store.read(name)) ?? '', revocationsRev);
      return read.ok ? read.claims : 'missing';
    },
    check: (list, { revocationsRev }) => readFrom(list, revocationsRev),
    write: (list) => store.write(name, list),
  };
}
