import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { noteEntry } from '../changes/recorded-entries.ts';
import type { RecordingContext } from '../context.ts';
import { recordEvents } from '../outbox/record.ts';
import { actorColumns, loggedActor } from './actor.ts';
import type { SecurityLogInput } from './entry.ts';
import { eventsOf } from './event-of.ts';

/**
 * Records a developer's action, and the event about it, in the transaction of the change: all are committed, or none. An
 * entry about an application requires changeInTransaction, which wakes the followers. Call it when the change has locked its
 * rows, so that events about one thing are in the order of its changes.
 */
export async function recordSecurityEvent(
  ctx: RecordingContext,
  transaction: Prisma.TransactionClient,
  input: SecurityLogInput,
): Promise<void> {
  const id = newId();
  if (input.applicationId !== null) noteEntry(transaction, input.applicationId, id);
  const createdAt = new Date(ctx.env.clock.now());
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
      createdAt,
      ...actorColumns(input.actor ?? loggedActor(ctx.actor)),
    },
  });
  await recordEvents(transaction, eventsOf(input), createdAt);
}
