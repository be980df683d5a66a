import { createWebhook, type WebhookWithSecret } from '../../services/webhook/create.ts';
import { deleteWebhook } from '../../services/webhook/delete.ts';
import { redeliver } from '../../services/webhook/redeliver.ts';
import { replayWebhook } from '../../services/webhook/replay.ts';
import { rotateWebhookSecret } from '../../services/webhook/rotate-secret.ts';
import { webhookSecretWarning } from '../../services/webhook/secrets.ts';
import { testWebhook } from '../../services/webhook/send-test.ts';
import { updateWebhook } from '../../services/webhook/update.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { rateLimited } from '../rate-limit.ts';
import { changedDelivery, changedWebhook, Webhook, WebhookDelivery } from './webhook.ts';

const secretPayload = (name: string) =>
  builder.objectRef<WebhookWithSecret>(name).implement({
    description: 'The webhook and its new secret, which is shown only once.',
    fields: (t) => ({
      secret: t.exposeString('secret', { description: 'The signing secret: whsec_…' }),
      // From memory: if it were read again and that failed, the secret would be lost.
      webhook: t.field({ type: Webhook, description: 'The webhook.', resolve: ({ webhook }) => webhook }),
      warning: t.string({ description: 'How to store the secret.', resolve: () => webhookSecretWarning }),
    }),
  });

const deliveryPayload = (name: string) =>
  builder.objectRef<{ deliveryId: string }>(name).implement({
    description: 'The delivery.',
    fields: (t) => ({
      delivery: t.field({
        type: WebhookDelivery,
        description: 'The delivery.',
        resolve: ({ deliveryId }, _args, context, info) => changedDelivery(deliveryId, context, info),
      }),
    }),
  });

const CreateWebhookInput = builder.inputType('CreateWebhookInput', {
  description: 'A new webhook.',
  fields: (t) => ({
    url: t.string({ required: true, description: 'https, with a public address; at most 2,048 characters.' }),
    types: t.stringList({
      required: true,
      description: '1 to 50 types of events, such as license.banned, license.* or *.',
    }),
    applicationId: t.id({ description: 'Only events of this application; all if omitted.' }),
    description: t.string({ description: 'At most 200 characters.' }),
  }),
});

const UpdateWebhookInput = builder.inputType('UpdateWebhookInput', {
  description: 'The values to change. Omitted values stay as they are; at least one is required.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the webhook.' }),
    url: t.string({ description: 'https, with a public address; at most 2,048 characters.' }),
    types: t.stringList({ description: '1 to 50 types of events, such as license.banned, license.* or *.' }),
    applicationId: t.id({ description: 'Only events of this application; null for all.' }),
    description: t.string({ description: 'At most 200 characters.' }),
    enabled: t.boolean({ description: 'Whether events are sent.' }),
  }),
});

const UpdateWebhookPayload = builder.objectRef<{ id: string }>('UpdateWebhookPayload').implement({
  description: 'The webhook after the change.',
  fields: (t) => ({
    webhook: t.field({
      type: Webhook,
      description: 'The webhook.',
      resolve: ({ id }, _args, context, info) => changedWebhook(id, context, info),
    }),
  }),
});

const webhookInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ id: t.id({ required: true, description: 'The id of the webhook.' }) }),
  });

const DeleteWebhookPayload = builder.objectRef<{ id: string }>('DeleteWebhookPayload').implement({
  description: 'The deleted webhook.',
  fields: (t) => ({
    deletedWebhookId: t.exposeID('id', { description: 'The id of the deleted webhook.' }),
  }),
});

const ReplayWebhookInput = builder.inputType('ReplayWebhookInput', {
  description: 'A webhook and a time.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the webhook.' }),
    from: t.field({ type: 'DateTime', required: true, description: 'Events from this time on.' }),
    to: t.field({ type: 'DateTime', required: true, description: 'Events before this time.' }),
  }),
});

const ReplayWebhookPayload = builder.objectRef<{ enqueued: number }>('ReplayWebhookPayload').implement({
  description: 'What is sent again.',
  fields: (t) => ({
    enqueued: t.exposeInt('enqueued', { description: 'The number of events that are sent.' }),
  }),
});

const RedeliverInput = builder.inputType('RedeliverWebhookDeliveryInput', {
  description: 'The delivery to attempt again.',
  fields: (t) => ({
    webhookId: t.id({ required: true, description: 'The id of the webhook.' }),
    deliveryId: t.id({ required: true, description: 'The id of the delivery.' }),
  }),
});

builder.mutationFields((t) => ({
  createWebhook: t.field({
    type: secretPayload('CreateWebhookPayload'),
    ...withInput(CreateWebhookInput, 'The new webhook.'),
    description:
      'Creates a webhook, to which events from now on are sent. Errors: CONFIRMATION_REQUIRED, APP_NOT_FOUND, LIMIT_REACHED.',
    resolve: (_parent, { input }, { service }) => createWebhook({ ctx: service, input: withoutNulls(input) }),
  }),
  updateWebhook: t.field({
    type: UpdateWebhookPayload,
    ...withInput(UpdateWebhookInput, 'The webhook and its new values.'),
    description:
      'Changes, disables or enables a webhook. When it is enabled, it goes on where it stopped, as far as events are still kept. Errors: CONFIRMATION_REQUIRED, WEBHOOK_NOT_FOUND, APP_NOT_FOUND.',
    resolve: async (_parent, { input: { id, applicationId, ...change } }, { service }) => {
      const ofApplication = applicationId === undefined ? {} : { applicationId };
      await updateWebhook({
        ctx: service,
        input: { id, change: { ...withoutNulls(change), ...ofApplication } },
      });
      return { id };
    },
  }),
  deleteWebhook: t.field({
    type: DeleteWebhookPayload,
    ...withInput(webhookInput('DeleteWebhookInput', 'The webhook to delete.'), 'The webhook.'),
    description: 'Deletes a webhook and its deliveries. Errors: WEBHOOK_NOT_FOUND.',
    resolve: async (_parent, { input }, { service }) => {
      await deleteWebhook({ ctx: service, input });
      return input;
    },
  }),
  rotateWebhookSecret: t.field({
    type: secretPayload('RotateWebhookSecretPayload'),
    ...withInput(
      webhookInput('RotateWebhookSecretInput', 'The webhook that gets a new secret.'),
      'The webhook.',
    ),
    description:
      'Replaces the signing secret of a webhook. For 24 hours, messages have a signature with the old one too. Errors: CONFIRMATION_REQUIRED, WEBHOOK_NOT_FOUND.',
    resolve: (_parent, { input }, { service }) => rotateWebhookSecret({ ctx: service, input }),
  }),
  testWebhook: t.field({
    ...rateLimited('webhookSend'),
    type: deliveryPayload('TestWebhookPayload'),
    ...withInput(webhookInput('TestWebhookInput', 'The webhook to test.'), 'The webhook.'),
    description:
      'Sends an event of the type webhook.test at once and once, also to a disabled webhook, and returns the result. Errors: WEBHOOK_NOT_FOUND, TOO_MANY_DELIVERIES.',
    resolve: async (_parent, { input }, { service }) => {
      const { id: deliveryId } = await testWebhook({ ctx: service, input });
      return { deliveryId };
    },
  }),
  replayWebhook: t.field({
    ...rateLimited('webhookSend'),
    type: ReplayWebhookPayload,
    ...withInput(ReplayWebhookInput, 'The webhook and the time.'),
    description:
      'Sends up to 10,000 events of a time to a webhook again. Errors: WEBHOOK_NOT_FOUND, INVALID_TRANSITION (if it is disabled), TOO_MANY.',
    resolve: (_parent, { input }, { service }) => replayWebhook({ ctx: service, input }),
  }),
  redeliverWebhookDelivery: t.field({
    ...rateLimited('webhookSend'),
    type: deliveryPayload('RedeliverWebhookDeliveryPayload'),
    ...withInput(RedeliverInput, 'The delivery.'),
    description:
      'Attempts a delivery again now. Errors: WEBHOOK_NOT_FOUND, DELIVERY_NOT_FOUND, INVALID_TRANSITION (if the webhook is disabled).',
    resolve: async (_parent, { input }, { service }) => {
      await redeliver({ ctx: service, input });
      return input;
    },
  }),
}));
