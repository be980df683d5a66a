import { z } from '@hono/zod-openapi';
import { createWebhook, createWebhookInput } from '../../services/webhook/create.ts';
import { deleteWebhook } from '../../services/webhook/delete.ts';
import { getWebhook } from '../../services/webhook/get.ts';
import { listWebhooks } from '../../services/webhook/list.ts';
import { listDeliveries } from '../../services/webhook/list-deliveries.ts';
import { redeliver } from '../../services/webhook/redeliver.ts';
import { replayWebhook, replayWebhookInput } from '../../services/webhook/replay.ts';
import { rotateWebhookSecret } from '../../services/webhook/rotate-secret.ts';
import { webhookSecretWarning } from '../../services/webhook/secrets.ts';
import { testWebhook } from '../../services/webhook/send-test.ts';
import { updateWebhook, updateWebhookInput } from '../../services/webhook/update.ts';
import { serviceContext } from '../adapter.ts';
import { deliveryQuery, plainPageQuery } from '../page-query.ts';
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
  nestedIdParam,
  queuedReadCodes,
  readCodes,
  searchCodes,
} from '../route.ts';
import { answer, deliverySchema, nextCursorSchema, webhookSchema } from '../schemas.ts';

const tags = ['Webhooks'];
const dashboard = { ...forDevelopers, tags };
/** Contract and middleware of a route that sends something. */
const sending = { ...limitedForDevelopers('webhookSend'), tags };
const params = idParam('the webhook');
const deliveryParams = params.extend({ deliveryId: nestedIdParam('deliveryId', 'the delivery') });
const webhookAnswer = (description: string) => jsonAnswer(description, answer({ webhook: webhookSchema }));
const secretAnswer = (description: string) =>
  jsonAnswer(description, answer({ webhook: webhookSchema, secret: z.string(), warning: z.string() }));
const instant = z.iso.datetime().transform((text) => new Date(text));

const listRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/webhooks',
  operationId: 'listWebhooks',
  ...needs('webhooks:read'),
  summary: 'List your webhooks, newest first',
  description: 'Without their secrets.',
  request: { query: plainPageQuery },
  responses: {
    200: jsonAnswer(
      'A page of webhooks',
      answer({ webhooks: z.array(webhookSchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...queuedReadCodes),
  },
});

const createWebhookRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/webhooks',
  operationId: 'createWebhook',
  ...needs('webhooks:write', 'events:read'),
  summary: 'Create a webhook; its signing secret is shown only once',
  description:
    'Events from now on are sent to the URL as POST requests, signed after the Standard Webhooks specification. `types` ' +
    'are types of events, `license.*` for all that begin so, or `*`. The URL must be https and have a public address.',
  request: { body: jsonBody(createWebhookInput) },
  responses: {
    201: secretAnswer('The webhook with its secret'),
    ...failures(...bodyCodes, 'CONFIRMATION_REQUIRED', 'APP_NOT_FOUND', 'LIMIT_REACHED'),
  },
});

const getRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/webhooks/{id}',
  operationId: 'getWebhook',
  ...needs('webhooks:read'),
  summary: 'Get a webhook',
  description: 'Without its secret.',
  request: { params },
  responses: { 200: webhookAnswer('The webhook'), ...failures(...readCodes, 'WEBHOOK_NOT_FOUND') },
});

const updateRoute = createRoute({
  ...dashboard,
  method: 'patch',
  path: '/webhooks/{id}',
  operationId: 'updateWebhook',
  ...needs('webhooks:write', 'events:read'),
  summary: 'Change, disable or enable a webhook',
  description:
    'Only the members that are sent are changed. Nothing is sent while a webhook is disabled. When it is enabled, it goes ' +
    'on where it stopped, as far as events are still kept.',
  request: { params, body: jsonBody(updateWebhookInput) },
  responses: {
    200: webhookAnswer('The webhook after the change'),
    ...failures(...bodyCodes, 'CONFIRMATION_REQUIRED', 'WEBHOOK_NOT_FOUND', 'APP_NOT_FOUND'),
  },
});

const deleteRoute = createRoute({
  ...dashboard,
  method: 'delete',
  path: '/webhooks/{id}',
  operationId: 'deleteWebhook',
  ...needs('webhooks:write'),
  summary: 'Delete a webhook and its deliveries',
  description: 'An attempt that is in progress ends, and no other is made.',
  request: { params },
  responses: {
    200: jsonAnswer('The webhook is deleted', answer({})),
    ...failures(...changeCodes, 'WEBHOOK_NOT_FOUND'),
  },
});

const testRoute = createRoute({
  ...sending,
  method: 'post',
  path: '/webhooks/{id}/test',
  operationId: 'testWebhook',
  ...needs('webhooks:write'),
  summary: 'Send a test event to a webhook, and get the result',
  description:
    'An event of the type `webhook.test` is sent at once and once, also to a disabled webhook. The answer takes up to 15 ' +
    'seconds.',
  request: { params },
  responses: {
    200: jsonAnswer('The delivery with its result', answer({ delivery: deliverySchema })),
    ...failures(...changeCodes, 'WEBHOOK_NOT_FOUND', 'TOO_MANY_DELIVERIES'),
  },
});

const rotateRoute = createRoute({
  ...dashboard,
  method: 'post',
  path: '/webhooks/{id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  ...needs('webhooks:write'),
  summary: 'Replace the signing secret of a webhook; the new one is shown only once',
  description: 'For 24 hours, messages have a signature with the old secret too.',
  request: { params },
  responses: {
    200: secretAnswer('The webhook with its new secret'),
    ...failures(...changeCodes, 'CONFIRMATION_REQUIRED', 'WEBHOOK_NOT_FOUND'),
  },
});

const replayRoute = createRoute({
  ...sending,
  method: 'post',
  path: '/webhooks/{id}/replay',
  operationId: 'replayWebhook',
  ...needs('webhooks:write', 'events:read'),
  summary: 'Send the events of a time to a webhook again',
  description:
    'Up to 10,000 events from `from` until before `to` that the webhook selects now. Each has the same `webhook-id` as before.',
  request: { params, body: jsonBody(replayWebhookInput.extend({ from: instant, to: instant })) },
  responses: {
    200: jsonAnswer('How many events are sent', answer({ enqueued: z.int() })),
    ...failures(...bodyCodes, 'WEBHOOK_NOT_FOUND', 'INVALID_TRANSITION', 'TOO_MANY'),
  },
});

const deliveriesRoute = createRoute({
  ...dashboard,
  method: 'get',
  path: '/webhooks/{id}/deliveries',
  operationId: 'listWebhookDeliveries',
  ...needs('webhooks:read'),
  summary: "List a webhook's deliveries, newest first",
  description: 'They are kept for 30 days.',
  request: { params, query: deliveryQuery },
  responses: {
    200: jsonAnswer(
      'A page of deliveries',
      answer({ deliveries: z.array(deliverySchema), nextCursor: nextCursorSchema }),
    ),
    ...failures(...searchCodes, 'WEBHOOK_NOT_FOUND'),
  },
});

const redeliverRoute = createRoute({
  ...sending,
  method: 'post',
  path: '/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  operationId: 'redeliverWebhookDelivery',
  ...needs('webhooks:write'),
  summary: 'Attempt a delivery again now',
  description: 'It gets as many attempts as a new one. One that is being attempted stays as it is.',
  request: { params: deliveryParams },
  responses: {
    200: jsonAnswer('The delivery, which is pending', answer({ delivery: deliverySchema })),
    ...failures(...changeCodes, 'WEBHOOK_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'INVALID_TRANSITION'),
  },
});

export const webhookRoutes = createRouter()
  .openapi(listRoute, async (c) => {
    const { items, nextCursor } = await listWebhooks({ ctx: serviceContext(c), input: c.req.valid('query') });
    return c.json({ success: true as const, webhooks: [...items], nextCursor }, 200);
  })
  .openapi(createWebhookRoute, async (c) => {
    const created = await createWebhook({ ctx: serviceContext(c), input: c.req.valid('json') });
    return c.json({ success: true as const, ...created, warning: webhookSecretWarning }, 201);
  })
  .openapi(getRoute, async (c) => {
    const webhook = await getWebhook({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, webhook }, 200);
  })
  .openapi(updateRoute, async (c) => {
    const input = { id: c.req.valid('param').id, change: c.req.valid('json') };
    const webhook = await updateWebhook({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, webhook }, 200);
  })
  .openapi(deleteRoute, async (c) => {
    await deleteWebhook({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const }, 200);
  })
  .openapi(testRoute, async (c) => {
    const delivery = await testWebhook({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, delivery }, 200);
  })
  .openapi(rotateRoute, async (c) => {
    const rotated = await rotateWebhookSecret({ ctx: serviceContext(c), input: c.req.valid('param') });
    return c.json({ success: true as const, ...rotated, warning: webhookSecretWarning }, 200);
  })
  .openapi(replayRoute, async (c) => {
    const input = { id: c.req.valid('param').id, ...c.req.valid('json') };
    const { enqueued } = await replayWebhook({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, enqueued }, 200);
  })
  .openapi(deliveriesRoute, async (c) => {
    const { status, ...page } = c.req.valid('query');
    const input = { webhookId: c.req.valid('param').id, page, filter: { status } };
    const { items, nextCursor } = await listDeliveries({ ctx: serviceContext(c), input });
    return c.json({ success: true as const, deliveries: [...items], nextCursor }, 200);
  })
  .openapi(redeliverRoute, async (c) => {
    const { id: webhookId, deliveryId } = c.req.valid('param');
    const delivery = await redeliver({ ctx: serviceContext(c), input: { webhookId, deliveryId } });
    return c.json({ success: true as const, delivery }, 200);
  });
