import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { noteEntry } from '../changes/recorded-entries.ts';
import type { RecordingContext } from '../context.ts';
import { recordEvents } from '../outbox/record.ts';
import { loggedActor } from './actor.ts';
import type { SecurityLogInput } from './entry.ts';
import { eventsOf } from './event-of.ts';
import { insertActions } from './insert-actions.ts';

/**
 * Records actions of a developer in two statements, in the transaction of their changes, with the events about them: all are
 * committed, or none. An entry about an application requires changeInTransaction, which wakes the followers. Call it when the
 * change has locked its rows, so that events about one thing are in the order of its changes.
 */
export async function recordSecurityEvents(
  { actor, client, env }: RecordingContext,
  transaction: Prisma.TransactionClient,
  inputs: readonly SecurityLogInput[],
): Promise<void> {
  const createdAt = new Date(env.clock.now());
  const sender = loggedActor(actor);
  const rows = inputs.map(({ eventData: _, ...input }) => {
    const id = newId();
    if (input.applicationId !== null) noteEntry(transaction, input.applicationId, id);
    return { actor: sender, ...input, id, ip: client.ip, country: client.country, createdAt };
  });
  await insertActions(transaction, rows);
  await recordEvents(transaction, inputs.flatMap(eventsOf), createdAt);
}
