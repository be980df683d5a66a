import type { Prisma } from '../../db/client.ts';

/** The columns of a delivery that its owner can read. */
export const deliverySelect = {
  id: true,
  webhookId: true,
  eventId: true,
  eventType: true,
  status: true,
  attempts: true,
  nextAttemptAt: true,
  lastAttemptAt: true,
  latencyMilliseconds: true,
  statusCode: true,
  answer: true,
  error: true,
  createdAt: true,
} as const satisfies Prisma.WebhookDeliverySelect;

export type DeliveryRow = Prisma.WebhookDeliveryGetPayload<{ select: typeof deliverySelect }>;
