import { z } from '@hono/zod-openapi';
import { strictObject } from '../services/fields.ts';
import { metricsPeriodNames } from '../services/metrics/periods.ts';

/** Query parameters of a history of metrics. */
export const metricsHistoryQuery = strictObject({
  period: z.enum(metricsPeriodNames),
  applicationId: z.string().optional().openapi({
    format: 'uuid',
    description: 'Only this application; without it: all of your applications.',
  }),
});
