import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { noteEntry } from '../changes/recorded-entries.ts';
import type { RecordingContext } from '../context.ts';
import { recordEvents } from '../outbox/record.ts';
import { actorColumns, loggedActor } from './actor.ts';
import type { SecurityLogInput } from './entry.ts';
import { eventsOf } from './event-of.ts';

/**
 * Records many actions of a developer in two statements, in the transaction of their changes. Each gets the entry and the
 * event that `recordSecurityEvent` would write.
 */
export async function recordSecurityEvents(
  { actor, client, env }: RecordingContext,
  transaction: Prisma.TransactionClient,
  inputs: readonly SecurityLogInput[],
): Promise<void> {
  const createdAt = new Date(env.clock.now());
  const sender = loggedActor(actor);
  const data = inputs.map((input) => {
    const id = newId();
    if (input.applicationId !== null) noteEntry(transaction, input.applicationId, id);
    return {
      id,
      developerId: input.developerId,
      applicationId: input.applicationId,
      event: input.event,
      code: input.code ?? null,
      licenseId: input.licenseId ?? null,
      userId: input.userId ?? null,
      hwid: input.hwid ?? null,
      ip: client.ip,
      country: client.country,
      metadata: { ...input.metadata },
      createdAt,
      ...actorColumns(input.actor ?? sender),
    };
  });
  await transaction.securityLogEntry.createMany({ data });
  await recordEvents(transaction, inputs.flatMap(eventsOf), createdAt);
}
