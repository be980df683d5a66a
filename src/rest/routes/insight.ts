import { z } from '@hono/zod-openapi';
import { metricsOverview } from '../../services/metrics/overview.ts';
import { listSecurityLog } from '../../services/security-log/list.ts';
import { serviceContext } from '../adapter.ts';
import { pageQuery } from '../page-query.ts';
import {
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  idParam,
  jsonAnswer,
  needs,
  queuedReadCodes,
  searchCodes,
} from '../route.ts';
import { answer, metricsSchema, nextCursorSchema, securityLogEntrySchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Log and metrics'] };

const logsRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/logs',
  operationId: 'listSecurityLog',
  ...needs('logs:read'),
  summary: "List an application's security log, newest first",
  description:
    'Contains dashboard changes and the verdicts of all client requests; a verdict may appear up to a quarter of a ' +
    'second late. Entries are deleted after about 90 days. `q` searches event, code, IP address, country and HWID.',
  request: { params: idParam('the application'), query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of entries',
      answer({ logs: z.array(securityLogEntrySchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const overviewRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/metrics/overview',
  operationId: 'getMetrics',
  ...needs('logs:read'),
  summary: 'Get counts of applications, licenses by status, and validations in the last 24 hours',
  description: 'Covers all your applications. An active license past its expiry counts as expired.',
  responses: {
    200: jsonAnswer('The metrics', answer({ metrics: metricsSchema })),
    ...failures(...queuedReadCodes),
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
