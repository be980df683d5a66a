import type { Prisma } from '../../db/client.ts';

/** The columns of a webhook that its owner can read; its secrets are never among them. */
export const webhookSelect = {
  id: true,
  url: true,
  types: true,
  applicationId: true,
  description: true,
  disabledAt: true,
  disabledReason: true,
  failingSince: true,
  lastSuccessAt: true,
  previousSecretUntil: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.WebhookSelect;

export type WebhookRow = Prisma.WebhookGetPayload<{ select: typeof webhookSelect }>;

export interface WebhookView extends WebhookRow {
  readonly enabled: boolean;
}

export const webhookView = (row: WebhookRow): WebhookView => ({ ...row, enabled: row.disabledAt === null });
