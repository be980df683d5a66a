import { z } from '@hono/zod-openapi';
import { pageInput } from '../services/page.ts';

/** `limit`, `cursor` and `q` as a query string carries them: text, of which the number is made here. */
export const pageQuery = z
  .object({
    limit: z
      .string()
      .regex(/^\d{1,6}$/, 'must be a whole number')
      .transform(Number)
      .optional()
      .openapi({ type: 'integer', minimum: 1, maximum: 200, default: 50 }),
    cursor: z.string().optional().openapi({ description: 'The nextCursor of the page before.' }),
    q: z.string().optional().openapi({ description: 'Case-insensitive substring.' }),
  })
  .pipe(pageInput);
