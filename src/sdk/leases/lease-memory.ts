import type { Settings } from '../options.ts';
import { emptyRecord, type LeaseRecord, parseRecord, recordText } from './lease-record.ts';

/** What a change of the record results in. */
export interface Changed<Result> {
  readonly record: LeaseRecord;
  readonly result: Result;
  /** The result instead, if the record could not be stored. */
  readonly ifNotStored?: Result;
}

export interface LeaseMemory {
  /** Reads the record, changes it, and writes it; one change at a time. */
  change<Result>(
    change: (record: LeaseRecord) => Changed<Result> | Promise<Changed<Result>>,
  ): Promise<Result>;
}

/** The client's record of its leases, in the store. */
export function createLeaseMemory({ appId, store }: Pick<Settings, 'appId' | 'store'>): LeaseMemory {
  const name = `${appId}/leases`;
  let last: Promise<unknown> = Promise.resolve();
  /** Whether the store has what this process last wrote. */
  let isSaved = true;

  /** @returns whether the store has the record */
  async function save(record: LeaseRecord, before: LeaseRecord): Promise<boolean> {
    const text = recordText(record);
    const isNew = text !== recordText(before);
    // A program without leases writes nothing.
    if ((isNew || !isSaved) && isWorthKeeping(record)) isSaved = await store.write(name, text);
    return isSaved;
  }

  return {
    change(change) {
      const turn = last.then(async () => {
        const before = parseRecord(await store.read(name));
        const { record, result, ifNotStored = result } = await change(before);
        return (await save(record, before)) ? result : ifNotStored;
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

const isWorthKeeping = ({ entries, nonces, revocationsRev }: LeaseRecord): boolean =>
  entries.length > 0 || nonces.length > 0 || revocationsRev > emptyRecord.revocationsRev;
