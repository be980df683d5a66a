import type { Prisma } from '../../db/client.ts';
import { ServiceError, webhookNotFound } from '../errors.ts';

/**
 * Locks an enabled webhook until the transaction ends, so that it is not deleted before.
 * @throws {ServiceError} WEBHOOK_NOT_FOUND, INVALID_TRANSITION
 */
export async function lockEnabledWebhook(
  transaction: Prisma.TransactionClient,
  developerId: string,
  id: string,
): Promise<void> {
  const [found] = await transaction.$queryRaw<{ isEnabled: boolean }[]>`
    SELECT disabled_at IS NULL AS "isEnabled" FROM webhooks
    WHERE id = ${id}::uuid AND developer_id = ${developerId}::uuid FOR KEY SHARE`;
  if (found === undefined) throw webhookNotFound();
  if (found.isEnabled) return;
  throw new ServiceError(
    'INVALID_TRANSITION',
    'This webhook is disabled, so nothing is sent to it. Enable it first.',
  );
}
