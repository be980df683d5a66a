import { createRoute, z } from '@hono/zod-openapi';
import { createApplication, createApplicationInput } from '../../services/application/create.ts';
import { deleteApplication } from '../../services/application/delete.ts';
import { getApplication } from '../../services/application/get.ts';
import { listApplications } from '../../services/application/list.ts';
import { sdkHint } from '../../services/application/sdk-hint.ts';
import {
  settingsNotEmpty,
  updateApplicationSettings,
  updateApplicationSettingsInput,
} from '../../services/application/update-settings.ts';
import { serviceContext } from '../adapter.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { createRouter, developerSecurity, failures, idParam, jsonAnswer, jsonBody } from '../route.ts';
import { answer, applicationSchema, sdkHintSchema } from '../schemas.ts';

const tags = ['Applications'];
const dashboard = { tags, security: developerSecurity, middleware: authenticated };
const applicationAnswer = answer({ application: applicationSchema });

const createApplicationRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/apps/create',
  summary: 'Make an application with a signing key of its own',
  request: { body: jsonBody(createApplicationInput) },
  responses: {
    201: jsonAnswer(
      'The application, and what to build into the program',
      answer({ application: applicationSchema, sdkHint: sdkHintSchema, publicKeyB64: z.string() }),
    ),
    ...failures(400, 401, 403, 413, 429, 503),
  },
});

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/',
  summary: 'All your applications, newest first',
  responses: {
    200: jsonAnswer('The applications', answer({ applications: z.array(applicationSchema) })),
    ...failures(401, 429, 503),
  },
});

const getRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/apps/{id}',
  summary: 'One application',
  request: { params: idParam },
  responses: { 200: jsonAnswer('The application', applicationAnswer), ...failures(401, 404, 429, 503) },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/apps/{id}',
  summary: 'Delete an application with its licenses, end users, bans and log',
  request: { params: idParam },
  responses: { 200: jsonAnswer('It is gone', answer({})), ...failures(401, 403, 404, 429, 503) },
});

const settingsRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/apps/{id}/settings',
  summary: 'Change settings; message texts merge over the stored ones',
  request: {
    params: idParam,
    body: jsonBody(
      updateApplicationSettingsInput.refine(settingsNotEmpty, 'must have at least one of the settings'),
    ),
  },
  responses: {
    200: jsonAnswer('The application as it is now', applicationAnswer),
    ...failures(400, 401, 403, 404, 413, 429, 503),
  },
});

/** The interface writes it with a slash at its end; without one it is the same. */
const listWithoutSlashRoute = createRoute({ ...listRoute, path: '/apps', hide: true });

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
  .openapi(listRoute, async (c) => {
    const applications = await listApplications({ ctx: serviceContext(c) });
    return c.json({ success: true as const, applications }, 200);
  })
  .openapi(listWithoutSlashRoute, async (c) => {
    const applications = await listApplications({ ctx: serviceContext(c) });
    return c.json({ success: true as const, applications }, 200);
  })
  .openapi(getRoute, async (c) => {
    const application = await getApplication({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, application }, 200);
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
