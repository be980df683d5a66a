import { z } from '@hono/zod-openapi';
import { createEndUser, createEndUserInput } from '../../services/end-user/create.ts';
import { deleteEndUser } from '../../services/end-user/delete.ts';
import { exportEndUsers } from '../../services/end-user/export.ts';
import { listEndUsers } from '../../services/end-user/list.ts';
import { resetEndUserHwid } from '../../services/end-user/reset-hwid.ts';
import { serviceContext } from '../adapter.ts';
import { exportAnswer } from '../export-answer.ts';
import { pageQuery } from '../page-query.ts';
import {
  bodyCodes,
  changeCodes,
  createRoute,
  createRouter,
  failures,
  forDevelopers,
  idParam,
  jsonAnswer,
  jsonBody,
  needs,
  nestedIdParam,
  readCodes,
  searchCodes,
} from '../route.ts';
import { answer, endUserExportSchema, endUserSchema, nextCursorSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['End users'] };
const params = idParam('the application');
const userParams = params.extend({ userId: nestedIdParam('userId', 'the end user') });

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/users',
  operationId: 'listEndUsers',
  ...needs('users:read'),
  summary: "List an application's end users, newest first",
  description: '`q` searches usernames, email addresses, last IP addresses and last HWIDs.',
  request: { params, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of users',
      answer({ users: z.array(endUserSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const createUserRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users',
  operationId: 'createEndUser',
  ...needs('users:write'),
  summary: 'Create an end user without a client session',
  description:
    'An unused license becomes active and its term starts; no device is bound. If the application requires ' +
    'a license to register, `licenseKey` is required here too.',
  request: { params, body: jsonBody(createEndUserInput) },
  responses: {
    201: jsonAnswer('The user', answer({ user: endUserSchema })),
    ...failures(
      ...bodyCodes,
      'APP_NOT_FOUND',
      'LICENSE_REQUIRED',
      'LICENSE_NOT_FOUND',
      'APP_MISMATCH',
      'BANNED',
      'SUSPENDED',
      'EXPIRED',
      'USERNAME_TAKEN',
    ),
  },
});

const exportRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/users/export',
  operationId: 'exportEndUsers',
  ...needs('users:read', 'licenses:read', 'logs:read'),
  summary: "Export all data of an application's end users",
  description:
    "For answering end users' requests for their data. Passwords and their hashes are not included. The response is " +
    'streamed; if an error occurs midway, the connection is closed and the JSON is incomplete.',
  request: { params },
  responses: {
    200: jsonAnswer('The export', answer({ export: endUserExportSchema })),
    ...failures(...readCodes, 'CONFIRMATION_REQUIRED', 'APP_NOT_FOUND', 'TOO_MANY_EXPORTS'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/users/{userId}',
  operationId: 'deleteEndUser',
  ...needs('users:write'),
  summary: 'Delete an end user; the license and the log remain',
  description:
    'Ban the license separately if it should stop working. Log entries remain until their retention ends.',
  request: { params: userParams },
  responses: {
    200: jsonAnswer('The user is deleted', answer({})),
    ...failures(...changeCodes, 'APP_NOT_FOUND', 'USER_NOT_FOUND'),
  },
});

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users/{userId}/reset-hwid',
  operationId: 'resetEndUserHwid',
  ...needs('users:write'),
  summary: "Clear an end user's device and unbind the linked license from its device",
  description:
    "The license's status and expiry are unchanged. The next validation or login binds a device again.",
  request: { params: userParams },
  responses: {
    200: jsonAnswer('The device is cleared', answer({})),
    ...failures(...changeCodes, 'APP_NOT_FOUND', 'USER_NOT_FOUND', 'HWID_NOT_SET', 'LICENSE_BANNED'),
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
    return exportAnswer(c, () => exportEndUsers({ ctx: serviceContext(c), input }));
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
