import type { TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import { requireDeveloper } from '../services/actor.ts';
import type { Pages } from '../services/export-pages.ts';
import { type RestContext, serviceContext } from './adapter.ts';
import { exchangeOf } from './request-context.ts';
import { streamJson } from './stream-json.ts';

/** An export as its reader has it: lists in place of their pages. */
type Whole<Part> = { [Name in keyof Part]: WholeMember<Part[Name]> };
type WholeMember<Member> = Member extends Pages<infer Row> ? Whole<Row>[] : Member;
type ExportAnswer<Export> = TypedResponse<JSONParsed<{ success: true; export: Whole<Export> }>, 200, 'json'>;

/**
 * The answer with an export, which is read from the database while it is sent.
 * @param make makes it, once there is room for another export of the developer
 * @throws {ServiceError} TOO_MANY_EXPORTS, and what `make` throws
 */
export async function exportAnswer<Export extends object>(
  c: RestContext,
  make: () => Promise<Export>,
): Promise<ExportAnswer<Export>> {
  const exchange = exchangeOf(c);
  holdSlot(c, exchange);
  const exported = await make();
  const { requestId } = c.get('notes');
  const body = streamJson({ success: true, export: exported }, (error) => {
    if (!c.req.raw.signal.aborted)
      c.get('env').log.error({ err: error, requestId }, 'An export was broken off');
    exchange?.outgoing.destroy();
  });
  const answer: Response = c.body(body, 200, { 'Content-Type': 'application/json' });
  // The router knows what is in an answer by its type alone, which nothing but `c.json` gives.
  return answer as Response & ExportAnswer<Export>;
}

/** Takes a slot until the answer is over, however it ends: a HEAD request leaves its body unread. */
function holdSlot(c: RestContext, exchange: ReturnType<typeof exchangeOf>): void {
  if (exchange === null) return;
  const release = c.get('env').exportSlots.take(requireDeveloper(serviceContext(c).actor));
  exchange.outgoing.once('close', release);
  if (exchange.outgoing.destroyed) release();
}
