import { z } from '@hono/zod-openapi';
import { strictObject } from '../services/fields.ts';
import { bulkActions, bulkParams } from '../services/license/bulk-actions.ts';
import { selectionShape } from '../services/license/select-licenses.ts';
import { licenseFilterBody } from './license-filter.ts';

/** The body of a change of many licenses. The verb parses the parameters by the action. */
export const bulkBody = strictObject({
  action: z.enum(bulkActions),
  ids: selectionShape.ids,
  filter: licenseFilterBody.optional(),
  params: bulkParams.optional(),
  dryRun: z.boolean().optional(),
});
