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
  /** Checks a list that is new to the client. @param time Unix seconds */
  check(list: string, record: LeaseRecord, time: number): RevocationsResult;
  /** @returns whether the store has the list */
  write(list: string): Promise<boolean>;
}

/** The newest revocation list, in the store. */
export function createRevocationList(
  settings: Pick<Settings, 'appId' | 'publicKey' | 'store'>,
): RevocationList {
  const { appId, publicKey, store } = settings;
  const name = `${appId}/revocations`;
  const readFrom = (list: string, { revocationsRev: seenRev }: LeaseRecord, time: number) =>
    readRevocations(list, { appId, publicKey, time, seenRev });
  return {
    async read(record) {
      if (record.revocationsRev === 0) return null;
      // A list that was accepted stays in force after its end (SPEC §14.5).
      const read = readFrom((await store.read(name)) ?? '', record, 0);
      return read.ok ? read.claims : 'missing';
    },
    check: readFrom,
    write: (list) => store.write(name, list),
  };
}
