import { createRoute, z } from '@hono/zod-openapi';
import { createEndUser, createEndUserInput } from '../../services/end-user/create.ts';
import { deleteEndUser } from '../../services/end-user/delete.ts';
import { exportEndUsers } from '../../services/end-user/export.ts';
import { listEndUsers } from '../../services/end-user/list.ts';
import { resetEndUserHwid } from '../../services/end-user/reset-hwid.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { pageQuery } from '../page-query.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer, jsonBody } from '../route.ts';
import { answer, endUserExportSchema, endUserSchema } from '../schemas.ts';

const dashboard = { tags: ['End users'], security: developerSecurity, middleware: authenticated };
const userParams = idParam.extend({
  userId: z.string().openapi({ param: { in: 'path', name: 'userId' } }),
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/users',
  summary: 'End users of an application, newest first',
  request: { params: idParam, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of users',
      answer({ users: z.array(endUserSchema), nextCursor: z.string().nullable() }),
    ),
    ...failures(400, 401, 404, 429, 503),
  },
});

const createUserRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users',
  summary: "Make an end user's account, without a client session",
  request: { params: idParam, body: jsonBody(createEndUserInput) },
  responses: {
    201: jsonAnswer('The user', answer({ user: endUserSchema })),
    ...failures(400, 401, 403, 404, 409, 413, 429, 503),
  },
});

const exportRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/users/export',
  summary: "All that is kept of an application's end users",
  request: { params: idParam },
  responses: {
    200: jsonAnswer('The export', answer({ export: endUserExportSchema })),
    ...failures(401, 404, 429, 503),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/users/{userId}',
  summary: 'Erase an end user; the license and the log stay',
  request: { params: userParams },
  responses: { 200: jsonAnswer('The user is gone', answer({})), ...failures(401, 403, 404, 429, 503) },
});

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users/{userId}/reset-hwid',
  summary: "Forget a user's device, and free the linked license of its own",
  request: { params: userParams },
  responses: {
    200: jsonAnswer('The device is forgotten', answer({})),
    ...failures(400, 401, 403, 404, 429, 503),
  },
});

export const userRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, page: c.req.valid('query') };
    const { items, nextCursor } = await listEndUsers({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, users: [...items], nextCursor }, 200);
  })
  .openapi(createUserRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id, user: c.req.valid('json') };
    const user = await createEndUser({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, user }, 201);
  })
  .openapi(exportRoute, async (c) => {
    const input = { applicationId: c.req.valid('param').id };
    const exported = await exportEndUsers({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, export: exported }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    const { id: applicationId, userId } = c.req.valid('param');
    await deleteEndUser({ ctx: serviceContext(c), input: { applicationId, userId } });
    return c.json({ success: true as const }, 200);
  })
  .openapi(resetHwidRoute, async (c) => {
    const { id: applicationId, userId } = c.req.valid('param');
    await resetEndUserHwid({ ctx: serviceContext(c), input: { applicationId, userId } });
    return c.json({ success: true as const }, 200);
  });
