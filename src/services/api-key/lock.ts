import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { lockAccountForCount } from '../require-room.ts';
import { type ApiKeyRow, apiKeySelect } from './view.ts';

export const apiKeyNotFound = () => new ServiceError('API_KEY_NOT_FOUND', 'There is no such API key.');

/**
 * Reads a key that can be changed. The lock is that of the account, so that keys are changed one after another: what a
 * key may give depends on its own row.
 * @throws {ServiceError} API_KEY_NOT_FOUND, INVALID_TRANSITION if it is revoked
 */
export async function lockApiKey(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  id: string,
): Promise<ApiKeyRow> {
  if (!isId(id)) throw apiKeyNotFound();
  await lockAccountForCount(ctx, transaction, developerId);
  const key = await transaction.apiKey.findUnique({ where: { id, developerId }, select: apiKeySelect });
  if (key === null) throw apiKeyNotFound();
  if (key.revokedAt !== null) {
    throw new ServiceError('INVALID_TRANSITION', 'This API key has been revoked. Nothing was changed.');
  }
  return key;
}
