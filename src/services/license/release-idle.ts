import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { RecordingContext } from '../context.ts';
import { recordEvents } from '../outbox/record.ts';
import type { LockedLicense } from './lock.ts';
import { releaseDevices } from './release-devices.ts';

/** Releases devices whose place another one needs, and records the events about it: the log has only the other one's binding. */
export async function releaseIdle(
  ctx: Pick<RecordingContext, 'env'>,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  license: LockedLicense,
  {
    ids,
    developerId,
    now,
  }: { readonly ids: readonly string[]; readonly developerId: string; readonly now: Date },
): Promise<void> {
  await releaseDevices(ctx, transaction, invalidations, license, { ids, by: 'idle', now });
  const { id: licenseId, applicationId, keyPrefix, devices } = license;
  const events = ids.map((subjectId) => {
    const hwid = devices.find(({ id }) => id === subjectId)?.hwid ?? null;
    const data = { licenseId, keyPrefix, hwid, by: 'idle' };
    return { developerId, applicationId, type: 'device.released', subjectId, data } as const;
  });
  await recordEvents(transaction, events, now);
}
