import { z } from '@hono/zod-openapi';
import { deviceFilter } from '../services/device/lists.ts';
import { strictObject } from '../services/fields.ts';
import { listInput, pageInput, pageSize, wholeList } from '../services/page.ts';
import { deliveryFilter } from '../services/webhook/lists.ts';

const limit = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a whole number')
  .transform(Number)
  .optional();
const limitShape = { type: 'integer', minimum: 1, maximum: pageSize.largest } as const;
const cursor = z.string().optional().openapi({ description: 'The `nextCursor` of the previous page.' });

/** `limit` and `cursor` of a query string; converts `limit` to a number. */
const pageParams = {
  limit: limit.openapi({ ...limitShape, default: pageSize.fallback }),
  cursor,
};

/** The same with the filter of devices. */
export const deviceQuery = strictObject({ ...pageParams, ...deviceFilter.shape }).pipe(
  pageInput.omit({ q: true }).extend(deviceFilter.shape),
);

/** The same without a filter. */
export const plainPageQuery = strictObject(pageParams).pipe(pageInput.omit({ q: true }));

/** The same with the filter of a webhook's deliveries. */
export const deliveryQuery = strictObject({ ...pageParams, ...deliveryFilter.shape }).pipe(
  pageInput.omit({ q: true }).extend(deliveryFilter.shape),
);

/** The same with `q`. */
export const pageQueryShape = {
  ...pageParams,
  q: z.string().optional().openapi({ description: 'Case-insensitive substring.' }),
};

export const pageQuery = strictObject(pageQueryShape).pipe(pageInput);

/** Query parameters of a list that is returned whole unless it is too long. */
export const listQuery = strictObject({
  limit: limit.openapi({
    ...limitShape,
    description: `Rows per page; without it, up to ${wholeList.rows.toLocaleString('en-US')}.`,
  }),
  cursor,
}).pipe(listInput);

/** OpenAPI description of such a list. */
export const listNote =
  `Without \`limit\`, returns the whole list, up to ${wholeList.rows.toLocaleString('en-US')} rows and ` +
  `${wholeList.bytes / 1_000_000} MB. If there is more, \`nextCursor\` is set: pass it as \`cursor\` to get the rest.`;
