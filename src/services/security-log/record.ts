import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import type { RecordingContext } from '../context.ts';
import { noteEntry } from '../recorded-entries.ts';
import type { SecurityLogInput } from './entry.ts';

/**
 * Records a developer's action in the transaction of the change: both are committed, or neither. An entry about an
 * application requires changeInTransaction, which wakes the application's followers.
 */
export async function recordSecurityEvent(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  input: SecurityLogInput,
): Promise<void> {
  const id = newId();
  if (input.applicationId !== null) noteEntry(transaction, input.applicationId, id);
  await transaction.securityLogEntry.create({
    data: {
      id,
      developerId: input.developerId,
      applicationId: input.applicationId,
      event: input.event,
      code: input.code ?? null,
      licenseId: input.licenseId ?? null,
      userId: input.userId ?? null,
      hwid: input.hwid ?? null,
      ip: ctx.client.ip,
      country: ctx.client.country,
      metadata: { ...input.metadata },
      createdAt: new Date(ctx.env.clock.now()),
    },
  });
}
