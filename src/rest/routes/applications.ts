import { type RouteHandler, z } from '@hono/zod-openapi';
import { createApplication, createApplicationInput } from '../../services/application/create.ts';
import { deleteApplication } from '../../services/application/delete.ts';
import { getApplication } from '../../services/application/get.ts';
import { listApplications } from '../../services/application/list.ts';
import { messageOverrides } from '../../services/application/messages.ts';
import { sdkHint } from '../../services/application/sdk-hint.ts';
import {
  settingsNotEmpty,
  updateApplicationSettings,
  updateApplicationSettingsInput,
} from '../../services/application/update-settings.ts';
import { type RestEnv, serviceContext } from '../adapter.ts';
import { listNote, listQuery } from '../page-query.ts';
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
  limitedForDevelopers,
  needs,
  readCodes,
} from '../route.ts';
import { answer, applicationSchema, nextCursorSchema, sdkHintSchema } from '../schemas.ts';

const dashboard = { ...forDevelopers, tags: ['Applications'] };
const params = idParam('the application');
const applicationAnswer = answer({ application: applicationSchema });

const createApplicationRoute = createRoute({
  ...limitedForDevelopers('appCreate'),
  tags: dashboard.tags,
  method: 'post',
  path: '/apps/create',
  operationId: 'createApplication',
  ...needs('applications:write'),
  summary: 'Create an application with its own signing key',
  description: 'Build `sdkHint` into your program. The private key never leaves the service.',
  request: { body: jsonBody(createApplicationInput) },
  responses: {
    201: jsonAnswer(
      'The application, and the values to build into the program',
      answer({ application: applicationSchema, sdkHint: sdkHintSchema, publicKeyB64: z.string() }),
    ),
    ...failures(...bodyCodes, 'LIMIT_REACHED'),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/',
  operationId: 'listApplications',
  ...needs('applications:read'),
  summary: 'List your applications, newest first',
  description: `Each has its settings and all message texts, including defaults. ${listNote}`,
  request: { query: listQuery },
  responses: {
    200: jsonAnswer(
      'The applications',
      answer({ applications: z.array(applicationSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...readCodes),
  },
});

const getRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}',
  operationId: 'getApplication',
  ...needs('applications:read'),
  summary: 'Get an application',
  description: 'Includes its settings and all message texts, including defaults.',
  request: { params },
  responses: {
    200: jsonAnswer('The application', applicationAnswer),
    ...failures(...readCodes, 'APP_NOT_FOUND'),
  },
});

const sdkHintRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}/sdk-hint',
  operationId: 'getSdkHint',
  ...needs('applications:read'),
  summary: 'Get the values to build into the program, and code to paste',
  description: 'The same as after the creation, with the current version of the application.',
  request: { params },
  responses: {
    200: jsonAnswer('The values', answer({ sdkHint: sdkHintSchema })),
    ...failures(...readCodes, 'APP_NOT_FOUND'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}',
  operationId: 'deleteApplication',
  ...needs('applications:write'),
  summary: 'Delete an application and its licenses, end users, bans and log',
  description: 'This cannot be undone.',
  request: { params },
  responses: {
    200: jsonAnswer('The application is deleted', answer({})),
    ...failures(...changeCodes, 'CONFIRMATION_REQUIRED', 'APP_NOT_FOUND'),
  },
});

const settingsRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/apps/{id}/settings',
  operationId: 'updateApplicationSettings',
  ...needs('applications:write'),
  summary: "Change an application's settings; message texts are merged into the stored ones",
  description:
    'Send at least one setting; others are unchanged. The response has all message texts, including defaults. ' +
    'Clients whose version differs from `version` get APP_OUTDATED.',
  request: {
    params,
    body: jsonBody(
      updateApplicationSettingsInput
        .extend({ responseMessages: messageOverrides.optional().openapi({ additionalProperties: false }) })
        .refine(settingsNotEmpty, 'must have at least one of the settings'),
    ),
  },
  responses: {
    200: jsonAnswer('The updated application', applicationAnswer),
    ...failures(...bodyCodes, 'APP_NOT_FOUND'),
  },
});

/** The documented path has a trailing slash; this route accepts it without one. */
const listWithoutSlashRoute = createRoute({ ...listRoute, path: '/apps', hide: true });

const answerList: RouteHandler<typeof listRoute, RestEnv> = async (c) => {
  const input = c.req.valid('query');
  const { items, nextCursor } = await listApplications({ ctx: serviceContext(c), input });
  return c.json({ success: true as const, applications: [...items], nextCursor }, 200);
};

export const applicationRoutes = createRouter()
  .openapi(createApplicationRoute, async (c) => {
    const ctx = serviceContext(c);
    const application = await createApplication({ ctx, input: c.req.valid('json') });
    const { publicKeyB64 } = application;
    return c.json(
      { success: true as const, application, sdkHint: sdkHint(ctx, application), publicKeyB64 },
      201,
    );
  })
  .openapi(listRoute, answerList)
  .openapi(listWithoutSlashRoute, answerList)
  .openapi(getRoute, async (c) => {
    const application = await getApplication({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, application }, 200);
  })
  .openapi(sdkHintRoute, async (c) => {
    const ctx = serviceContext(c);
    const application = await getApplication({ ctx, input: c.req.valid('param') });
    return c.json({ success: true as const, sdkHint: sdkHint(ctx, application) }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteApplication({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  })
  .openapi(settingsRoute, async (c) => {
    const input = { ...c.req.valid('param'), settings: c.req.valid('json') };
    const application = await updateApplicationSettings({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, application }, 200);
  });
