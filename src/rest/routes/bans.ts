import { createRoute, z } from '@hono/zod-openapi';
import { deleteBan } from '../../services/ban/delete.ts';
import { listBans } from '../../services/ban/list.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer } from '../route.ts';
import { answer, banSchema } from '../schemas.ts';

const dashboard = { tags: ['Bans'], security: developerSecurity, middleware: authenticated };

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/bans',
  summary: 'Banned devices and addresses of an application, newest first',
  request: { params: idParam },
  responses: {
    200: jsonAnswer('The bans', answer({ bans: z.array(banSchema) })),
    ...failures(401, 404, 429, 503),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/bans/{banId}',
  summary: 'Remove a ban; the license that caused it stays banned',
  request: {
    params: idParam.extend({ banId: z.string().openapi({ param: { in: 'path', name: 'banId' } }) }),
  },
  responses: { 200: jsonAnswer('The ban is gone', answer({})), ...failures(401, 403, 404, 429, 503) },
});

export const banRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const bans = await listBans({
      ctx: serviceContext(c),
      input: { applicationId: c.req.valid('param').id },
    });
    return c.json({ success: true as const, bans }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    const { id: applicationId, banId } = c.req.valid('param');
    await deleteBan({ ctx: serviceContext(c), input: { applicationId, banId } });
    return c.json({ success: true as const }, 200);
  });
