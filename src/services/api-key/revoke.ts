import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

export const apiKeyNotFound = () => new ServiceError('API_KEY_NOT_FOUND', 'There is no such API key.');

/**
 * Revokes an API key for good; the row stays, to be listed. Revoking it again changes nothing.
 * @throws {ServiceError} UNAUTHENTICATED, API_KEY_NOT_FOUND
 */
export async function revokeApiKey({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { id: string };
}): Promise<void> {
  const developerId = requireDeveloper(ctx.actor);
  if (!isId(input.id)) throw apiKeyNotFound();
  const where = { id: input.id, developerId };
  await developerTransaction(ctx, developerId, async (transaction, touched) => {
    touched.credentials(developerId);
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
  });
}
