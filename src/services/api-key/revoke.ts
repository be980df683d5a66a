import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { lockAccountForCount } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { apiKeyNotFound } from './lock.ts';

/** Maximum number of revoked keys that are kept per developer. */
export const keptRevokedKeys = 500;

/**
 * Revokes an API key permanently. Its row is kept for lists, and above the maximum the oldest revoked key is deleted.
 * Revoking a revoked key has no effect.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, API_KEY_NOT_FOUND
 */
export async function revokeApiKey({ ctx, input }: Call<{ id: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  if (!isId(input.id)) throw apiKeyNotFound();
  const where = { id: input.id, developerId };
  await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    await lockAccountForCount(ctx, transaction, developerId);
    invalidations.credentials(developerId);
    const { count } = await transaction.apiKey.updateMany({
      where: { ...where, revokedAt: null },
      data: { revokedAt: new Date(ctx.env.clock.now()) },
    });
    if (count === 0) {
      if ((await transaction.apiKey.count({ where })) === 0) throw apiKeyNotFound();
      return;
    }
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'api_key_revoked',
      metadata: { apiKeyId: input.id },
    });
    await deleteOldestRevoked(transaction, developerId);
  });
}

/**
 * Deletes at most one key per revoked one, so that repeated creation and revocation adds no rows. A list that is already
 * longer is not shortened.
 */
async function deleteOldestRevoked(
  transaction: Prisma.TransactionClient,
  developerId: string,
): Promise<void> {
  await transaction.$executeRaw`
    DELETE FROM api_keys WHERE id = (
      SELECT id FROM api_keys WHERE developer_id = ${developerId}::uuid AND revoked_at IS NOT NULL
      ORDER BY revoked_at, id LIMIT 1
    ) AND ${keptRevokedKeys} < (
      SELECT count(*) FROM api_keys WHERE developer_id = ${developerId}::uuid AND revoked_at IS NOT NULL
    )`;
}
