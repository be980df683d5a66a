import { createRoute, z } from '@hono/zod-openapi';
import { metricsOverview } from '../../services/metrics/overview.ts';
import { listSecurityLog } from '../../services/security-log/list.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { pageQuery } from '../page-query.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer } from '../route.ts';
import { answer, metricsSchema, securityLogEntrySchema } from '../schemas.ts';

const dashboard = { tags: ['Log and metrics'], security: developerSecurity, middleware: authenticated };

const logsRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/logs',
  summary: "An application's security log, newest first",
  request: { params: idParam, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of entries',
      answer({ logs: z.array(securityLogEntrySchema), nextCursor: z.string().nullable() }),
    ),
    ...failures(400, 401, 404, 429, 503),
  },
});

const overviewRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/metrics/overview',
  summary: 'Applications, licenses by status, and the validations of the last 24 hours',
  responses: {
    200: jsonAnswer('The figures', answer({ metrics: metricsSchema })),
    ...failures(401, 429, 503),
  },
});

export const insightRoutes = createRouter()
  .openapi(logsRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, page: c.req.valid('query') };
    const { items, nextCursor } = await listSecurityLog({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, logs: [...items], nextCursor }, 200);
  })
  .openapi(overviewRoute, async (c) => {
    const metrics = await metricsOverview({ ctx: serviceContext(c) });
    return c.json({ success: true as const, metrics }, 200);
  });
