import { applicationTable } from '../../services/application/lists.ts';
import type { ApplicationRow } from '../../services/application/view.ts';
import { deliveryNotFound, webhookNotFound } from '../../services/errors.ts';
import { type DeliveryRow, deliverySelect } from '../../services/webhook/delivery-view.ts';
import { getWebhook } from '../../services/webhook/get.ts';
import {
  deliveriesOfWebhooks,
  deliveryTable,
  webhooksOfDevelopers,
  webhookTable,
} from '../../services/webhook/lists.ts';
import { type WebhookRow, webhookSelect } from '../../services/webhook/view.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toChanged, toExactlyOne, toOne } from '../to-one.ts';
import { Account } from './account.ts';
import { Application } from './application.ts';
import { Node } from './node.ts';

const DisabledReason = builder.enumType('WebhookDisabledReason', {
  description: 'Why nothing is sent to a webhook.',
  values: {
    vendor: { description: 'You disabled it.' },
    gone: { description: 'Its receiver answered 410 Gone.' },
    failing: { description: 'No attempt succeeded for 72 hours.' },
  } as const,
});

const findApplication = toOne<ApplicationRow>(applicationTable);

export const Webhook = builder.prismaObject('Webhook', {
  description: 'A URL of yours to which events are sent.',
  interfaces: [Node],
  select: webhookSelect,
});

builder.objectFields(Webhook, (t) => ({
  url: t.exposeString('url', { description: 'Where events are sent.' }),
  types: t.exposeStringList('types', {
    description: 'Types of events, such as license.banned, license.* or *.',
  }),
  application: t.field({
    ...reads('applicationId'),
    type: Application,
    nullable: true,
    description: 'Only events of this application are sent; null for all, or if it was deleted.',
    resolve: ({ applicationId }, _args, context, info) => findApplication(applicationId, context, info),
  }),
  applicationId: t.exposeID('applicationId', {
    nullable: true,
    description: 'The id of that application, also if it was deleted; null for all.',
  }),
  description: t.exposeString('description', { description: 'Your own words.' }),
  enabled: t.boolean({
    ...reads('disabledAt'),
    description: 'Whether events are sent.',
    resolve: ({ disabledAt }) => disabledAt === null,
  }),
  disabledAt: t.expose('disabledAt', {
    type: 'DateTime',
    nullable: true,
    description: 'Since when it is disabled; null while it is enabled.',
  }),
  disabledReason: t.expose('disabledReason', {
    type: DisabledReason,
    nullable: true,
    description: 'Why it is disabled; null while it is enabled.',
  }),
  failingSince: t.expose('failingSince', {
    type: 'DateTime',
    nullable: true,
    description: 'Since when all attempts have failed; null unless the last one failed.',
  }),
  lastSuccessAt: t.expose('lastSuccessAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When an attempt last succeeded, to the minute; null if none did.',
  }),
  previousSecretUntil: t.expose('previousSecretUntil', {
    type: 'DateTime',
    nullable: true,
    description:
      'Until this time, messages are also signed with the previous secret; null without a previous secret.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
}));

const DeliveryStatus = builder.enumType('WebhookDeliveryStatus', {
  description: 'What came of a delivery.',
  values: {
    pending: { description: 'It waits for an attempt, or is being attempted.' },
    succeeded: { description: 'The receiver answered with a status of 200 to 299.' },
    failed: { description: 'No further attempt is made.' },
  } as const,
});

export const WebhookDelivery = builder.prismaObject('WebhookDelivery', {
  description: 'An event that is sent, or was sent, to a webhook. Kept for 30 days.',
  interfaces: [Node],
  select: deliverySelect,
});

/** The webhook that a mutation changed. */
export const changedWebhook = toChanged<WebhookRow>(webhookTable, webhookNotFound);
const readWebhook = toExactlyOne<WebhookRow>(webhookTable, webhookNotFound);
const findWebhook = toOne<WebhookRow>(webhookTable);
/** The delivery that a mutation changed. */
export const changedDelivery = toChanged<DeliveryRow>(deliveryTable, deliveryNotFound);

builder.objectFields(WebhookDelivery, (t) => ({
  webhook: t.field({
    ...reads('webhookId'),
    type: Webhook,
    nullable: true,
    description: 'The webhook; null if it was deleted during the request.',
    resolve: ({ webhookId }, _args, context, info) => findWebhook(webhookId, context, info),
  }),
  eventId: t.exposeID('eventId', { description: 'The webhook-id of the message, and the id of its event.' }),
  eventType: t.exposeString('eventType', { description: 'The type of the event.' }),
  status: t.expose('status', { type: DeliveryStatus, description: 'What came of it.' }),
  attempts: t.exposeInt('attempts', { description: 'Attempts that have begun.' }),
  nextAttemptAt: t.expose('nextAttemptAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the next attempt is made; null after the last one.',
  }),
  lastAttemptAt: t.expose('lastAttemptAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When the last attempt began; null before the first.',
  }),
  latencyMilliseconds: t.exposeInt('latencyMilliseconds', {
    nullable: true,
    description: 'How long the last attempt took; null before the first has ended.',
  }),
  statusCode: t.exposeInt('statusCode', {
    nullable: true,
    description: 'The HTTP status of the last response; null without one.',
  }),
  answer: t.exposeString('answer', {
    nullable: true,
    description: 'The first 1,024 bytes of its body; null without a response.',
  }),
  error: t.exposeString('error', {
    nullable: true,
    description: 'Why the last attempt failed; null if it did not.',
  }),
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
}));

const DeliveryConnection = connectionType('WebhookDeliveryConnection', WebhookDelivery, 'deliveries');

const DeliveryFilterInput = builder.inputType('WebhookDeliveryFilter', {
  description: 'Filters deliveries.',
  fields: (t) => ({
    status: t.field({ type: DeliveryStatus, description: 'Deliveries with this status.' }),
  }),
});

builder.objectField(Webhook, 'deliveries', (t) =>
  t.field({
    type: DeliveryConnection,
    description: 'The deliveries of the last 30 days, newest first.',
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: DeliveryFilterInput, description: 'Filters the list.' }),
    },
    ...listField<DeliveryRow>(deliveriesOfWebhooks),
  }),
);

const WebhookConnection = connectionType('WebhookConnection', Webhook, 'webhooks');

builder.objectField(Account, 'webhooks', (t) =>
  t.field({
    type: WebhookConnection,
    description: 'The webhooks, newest first.',
    args: t.arg.connectionArgs(),
    ...listField<WebhookRow>(webhooksOfDevelopers),
  }),
);

builder.queryField('webhook', (t) =>
  t.field({
    type: Webhook,
    nullable: true,
    description: 'One of your webhooks. Null comes with a WEBHOOK_NOT_FOUND error.',
    args: { id: t.arg.id({ required: true, description: 'The id of the webhook.' }) },
    resolve: async (_parent, input, context, info) => {
      const { id } = await getWebhook({ ctx: context.service, input });
      return readWebhook(id, context, info);
    },
  }),
);
