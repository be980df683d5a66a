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
  nestedIdParam,
  readCodes,
  searchCodes,
} from '../route.ts';
import { answer, endUserExportSchema, endUserSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['End users'] };
const params = idParam('the application');
const userParams = params.extend({ userId: nestedIdParam('userId', 'the end user') });

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/users',
  operationId: 'listEndUsers',
  summary: 'End users of an application, newest first',
  description: '`q` searches usernames, email addresses, last addresses and last HWIDs.',
  request: { params, query: pageQuery },
  responses: {
    200: jsonAnswer(
      'A page of users',
      answer({ users: z.array(endUserSchema), nextCursor: z.string().nullable() }),
    ),
    ...failures(...searchCodes, 'APP_NOT_FOUND'),
  },
});

const createUserRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users',
  operationId: 'createEndUser',
  summary: "Make an end user's account, without a client session",
  description:
    'A license that was never used becomes active, and its duration starts; no device is bound. Where the ' +
    'application requires a license to register, `licenseKey` is required here too.',
  request: { params, body: jsonBody(createEndUserInput) },
  responses: {
    201: jsonAnswer('The user', answer({ user: endUserSchema })),
    ...failures(
      ...changeCodes,
      ...bodyCodes,
      'APP_NOT_FOUND',
      'LICENSE_REQUIRED',
      'LICENSE_NOT_FOUND',
      'APP_MISMATCH',
      'BANNED',
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
  summary: "All that is kept of an application's end users",
  description:
    "To answer an end user's request for their data. Passwords are in no form part of it. It is sent as it is read; " +
    'where that fails on the way, the answer is broken off, and is no JSON.',
  request: { params },
  responses: {
    200: jsonAnswer('The export', answer({ export: endUserExportSchema })),
    ...failures(...readCodes, 'APP_NOT_FOUND', 'TOO_MANY_EXPORTS'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}/users/{userId}',
  operationId: 'deleteEndUser',
  summary: 'Erase an end user; the license and the log stay',
  description: 'Ban the license separately if it should end too. Log entries stay until their time is up.',
  request: { params: userParams },
  responses: {
    200: jsonAnswer('The user is gone', answer({})),
    ...failures(...changeCodes, 'APP_NOT_FOUND', 'USER_NOT_FOUND'),
  },
});

const resetHwidRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/{id}/users/{userId}/reset-hwid',
  operationId: 'resetEndUserHwid',
  summary: "Forget a user's device, and free the linked license of its own",
  description: "The license's status and end stay as they are. The next validation or login binds anew.",
  request: { params: userParams },
  responses: {
    200: jsonAnswer('The device is forgotten', answer({})),
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
