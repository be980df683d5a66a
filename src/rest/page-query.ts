import { z } from '@hono/zod-openapi';
import { closedObject } from '../services/fields.ts';
import { listInput, pageInput, pageSize, wholeList } from '../services/page.ts';

const limit = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a whole number')
  .transform(Number)
  .optional();
const limitShape = { type: 'integer', minimum: 1, maximum: pageSize.largest } as const;
const cursor = z.string().optional().openapi({ description: 'The nextCursor of the page before.' });

/** `limit`, `cursor` and `q` as a query string carries them: text, of which the number is made here. */
export const pageQuery = closedObject({
  limit: limit.openapi({ ...limitShape, default: pageSize.fallback }),
  cursor,
  q: z.string().optional().openapi({ description: 'Case-insensitive substring.' }),
}).pipe(pageInput);

/** The same of a list that is answered whole, as far as that is short. */
export const listQuery = closedObject({
  limit: limit.openapi({
    ...limitShape,
    description: `Rows of a page; without it, up to ${wholeList.rows.toLocaleString('en-US')}.`,
  }),
  cursor,
}).pipe(listInput);

/** What the contract says of such a list. */
export const listNote =
  `All of them, as far as that is at most ${wholeList.rows.toLocaleString('en-US')} rows and ` +
  `${wholeList.bytes / 1_000_000} MB; where there are more, \`nextCursor\` is not null, and is the \`cursor\` of the rest.`;
