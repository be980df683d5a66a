import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { ServiceError } from '../errors.ts';
import { type EventPage, type EventQuery, readEvents } from '../outbox/read-events.ts';

/**
 * Reads a page of events in the developer's turn.
 * @throws {ServiceError} CURSOR_EXPIRED, TOO_MANY_READS
 */
export async function lookForEvents(ctx: ServiceContext, query: EventQuery): Promise<EventPage> {
  const page = await inReadTurn(ctx, () => readEvents(ctx.env.database.pool, query));
  if (page === 'expired') throw cursorExpired();
  return page;
}

const cursorExpired = () =>
  new ServiceError(
    'CURSOR_EXPIRED',
    'There is no such event any more: it is older than events are kept, or the database was restored from a backup. ' +
      'Read what you need from the lists, and continue without `after`, from the oldest event that is kept.',
  );
