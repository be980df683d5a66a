import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { all, columnsOf, type ListTable, listSource } from '../list-source.ts';
import { type DeliveryRow, deliverySelect } from './delivery-view.ts';
import { type WebhookRow, webhookSelect } from './view.ts';

export const webhookTable = {
  name: 'webhooks',
  columns: columnsOf('webhooks', webhookSelect),
  fromJson: {
    disabledAt: instant,
    failingSince: instant,
    lastSuccessAt: instant,
    previousSecretUntil: instant,
    createdAt: instant,
    updatedAt: instant,
  } satisfies FromJsonOf<WebhookRow>,
  developerId: 'webhooks.developer_id',
  applicationId: null,
  readScope: 'webhooks:read',
} satisfies ListTable;

/** A list of webhooks is short and has no filter. */
export const webhookFilter = z.object({});

/** A developer's webhooks. */
export const webhooksOfDevelopers = listSource<z.output<typeof webhookFilter>>({
  filter: webhookFilter,
  table: webhookTable,
  parentColumn: 'developer_id',
  matches: () => all([]),
});

export const deliveryTable = {
  name: 'webhook_deliveries',
  columns: columnsOf('webhook_deliveries', deliverySelect),
  fromJson: {
    nextAttemptAt: instant,
    lastAttemptAt: instant,
    createdAt: instant,
  } satisfies FromJsonOf<DeliveryRow>,
  developerId:
    '(SELECT webhooks.developer_id FROM webhooks WHERE webhooks.id = webhook_deliveries.webhook_id)',
  applicationId: null,
  readScope: 'webhooks:read',
} satisfies ListTable;

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const;

/** Filter of a list of deliveries. */
export const deliveryFilter = z.object({ status: z.enum(deliveryStatuses).optional() });

export type DeliveryFilter = z.output<typeof deliveryFilter>;

const hasStatus = ({ status }: DeliveryFilter): Prisma.Sql | null =>
  status === undefined ? null : Prisma.sql`webhook_deliveries.status = ${status}::"WebhookDeliveryStatus"`;

/** The deliveries of a webhook. An index finds those with one status in the order of the list. */
export const deliveriesOfWebhooks = listSource<DeliveryFilter>({
  filter: deliveryFilter,
  table: deliveryTable,
  parentColumn: 'webhook_id',
  matches: (filter) => hasStatus(filter) ?? all([]),
  within: hasStatus,
});
