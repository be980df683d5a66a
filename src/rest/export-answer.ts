import type { TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import type { Pages } from '../services/export-pages.ts';
import type { RestContext } from './adapter.ts';
import { exchangeOf } from './begin-request.ts';
import { streamJson } from './stream-json.ts';

/** An export as its reader has it: lists in place of their pages. */
type Whole<Export> = {
  [Name in keyof Export]: Export[Name] extends Pages<infer Row> ? Row[] : Export[Name];
};
type ExportAnswer<Export> = TypedResponse<JSONParsed<{ success: true; export: Whole<Export> }>, 200, 'json'>;

/** The answer with an export, which is read from the database while it is sent. */
export function exportAnswer<Export extends object>(c: RestContext, exported: Export): ExportAnswer<Export> {
  const { requestId } = c.get('notes');
  const body = streamJson({ success: true, export: exported }, (error) => {
    c.get('env').log.error({ err: error, requestId }, 'An export was broken off');
    exchangeOf(c)?.outgoing.destroy();
  });
  const answer: Response = c.body(body, 200, { 'Content-Type': 'application/json' });
  // The router knows what is in an answer by its type alone, which nothing but `c.json` gives.
  return answer as Response & ExportAnswer<Export>;
}
