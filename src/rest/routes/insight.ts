import { z } from '@hono/zod-openapi';
import { metricsHistory } from '../../services/metrics/history.ts';
import { metricsOverview } from '../../services/metrics/overview.ts';
import { listSecurityLog } from '../../services/security-log/list.ts';
import { serviceContext } from '../adapter.ts';
import { metricsHistoryQuery } from '../metrics-query.ts';
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
import {
  answer,
  metricsHistorySchema,
  metricsSchema,
  nextCursorSchema,
  securityLogEntrySchema,
} from '../schemas.ts';

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

const historyRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/metrics/history',
  operationId: 'getMetricsHistory',
  ...needs('logs:read'),
  summary: 'Get validations and first uses over time, and the expiries of the next 90 days',
  description:
    'Covers one of your applications, or all of them. `day` has 24 buckets of an hour, `week` 28 of six hours, and ' +
    '`month` 30 of a day. Buckets begin at multiples of their length, in UTC; the last one is the current one. ' +
    'Validations are kept for 31 days. Activations go back as far as events are kept: 30 days, or as long as the ' +
    'operator decides.',
  request: { query: metricsHistoryQuery },
  responses: {
    200: jsonAnswer('The history', answer({ history: metricsHistorySchema })),
    ...failures(...queuedReadCodes, 'APP_NOT_FOUND'),
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
  })
  .openapi(historyRoute, async (c) => {
    const found = await metricsHistory({ ctx: serviceContext(c), input: c.req.valid('query') });
    const history = {
      ...found,
      validations: [...found.validations],
      activations: [...found.activations],
      expiries: [...found.expiries],
    };
    return c.json({ success: true as const, history }, 200);
  });
