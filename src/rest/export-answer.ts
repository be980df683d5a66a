import type { TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import { requireAuthenticated } from '../services/actor.ts';
import type { Pages } from '../services/export-pages.ts';
import { type RestContext, serviceContext } from './adapter.ts';
import { exchangeOf } from './request-context.ts';
import { streamJson } from './stream-json.ts';

/** An export as sent: arrays in place of page iterators. */
type AsSent<Part> = { [Name in keyof Part]: MemberAsSent<Part[Name]> };
type MemberAsSent<Member> =
  Member extends Pages<infer Row>
    ? AsSent<Row>[]
    : Member extends { readonly devices: unknown }
      ? AsSent<Member>
      : Member;
type ExportAnswer<Export> = TypedResponse<JSONParsed<{ success: true; export: AsSent<Export> }>, 200, 'json'>;

/**
 * Streams an export: rows are read from the database while the response is sent.
 * @param make starts the export; called once the developer has a free export slot
 * @throws {ServiceError} TOO_MANY_EXPORTS, and whatever `make` throws
 */
export async function exportAnswer<Export extends object>(
  c: RestContext,
  make: () => Promise<Export>,
): Promise<ExportAnswer<Export>> {
  const exchange = exchangeOf(c);
  takeSlot(c, exchange);
  const exported = await make();
  const { requestId } = c.get('notes');
  const body = streamJson({ success: true, export: exported }, (error) => {
    if (!c.req.raw.signal.aborted) c.get('env').log.error({ err: error, requestId }, 'An export was aborted');
    exchange?.outgoing.destroy();
  });
  const answer: Response = c.body(body, 200, { 'Content-Type': 'application/json' });
  // The router checks response bodies by type only, and only `c.json` produces that type.
  return answer as Response & ExportAnswer<Export>;
}

/** Takes a slot until the response closes, however it ends: the body of a HEAD request is never read. */
function takeSlot(c: RestContext, exchange: ReturnType<typeof exchangeOf>): void {
  if (exchange === null) return;
  const release = c.get('env').exportSlots.take(requireAuthenticated(serviceContext(c).actor).developerId);
  exchange.outgoing.once('close', release);
  if (exchange.outgoing.destroyed) release();
}
