import type { Prisma } from '../../db/client.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { RecordingContext } from '../context.ts';
import type { LockedLicense } from '../license/lock.ts';
import { recordEvents } from '../outbox/record.ts';

/** What an end user did with client software. */
interface Done {
  readonly application: ApplicationSnapshot;
  readonly user: { readonly id: string; readonly username: string };
  readonly license: LockedLicense | null;
}

/** Records the event in the transaction of the change; its log entry is written later, with those of other clients. */
export function recordUserEvent(
  { env }: Pick<RecordingContext, 'env'>,
  transaction: Prisma.TransactionClient,
  type: 'user.registered' | 'user.upgraded',
  { application: { id: applicationId, developerId }, user, license }: Done,
): Promise<void> {
  const ofLicense = license && {
    licenseId: license.id,
    keyPrefix: license.keyPrefix,
    subscriptionTier: license.subscriptionTier,
  };
  const data = { username: user.username, ...ofLicense };
  const event = { developerId, applicationId, type, subjectId: user.id, data };
  return recordEvents(transaction, [event], new Date(env.clock.now()));
}
