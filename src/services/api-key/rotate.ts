import type { z } from 'zod';
import { createApiKeyToken } from '../../crypto/api-key-token.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { rotateApiKeyInput } from './fields.ts';
import { lockApiKey } from './lock.ts';
import { requireMayGrant } from './require-may-grant.ts';
import { apiKeySelect, type IssuedApiKey } from './view.ts';

/**
 * Gives an API key a new token. The old one stays good during the overlap; one that an earlier rotation has replaced
 * ends at once. A caller with an API key can rotate their own key, and keys that open no more than it.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, API_KEY_NOT_FOUND, INVALID_TRANSITION if it is revoked or has
 *   expired
 */
export async function rotateApiKey({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof rotateApiKeyInput>>): Promise<IssuedApiKey> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const { overlapSeconds } = parseInput(rotateApiKeyInput, given);
  await requireConfirmation(ctx);
  const { token, keyPrefix, keyHash } = createApiKeyToken();
  const now = ctx.env.clock.now();
  const previousValidUntil = new Date(now + overlapSeconds * 1000);
  return developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const old = await lockApiKey(ctx, transaction, developerId, id);
    if (old.expiresAt !== null && old.expiresAt.getTime() <= now) throw expired();
    await requireMayGrant(ctx, transaction, old);
    invalidations.credentials(developerId);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'api_key_rotated',
      metadata: { apiKeyId: id, overlapSeconds },
    });
    const { keyHash: previousKeyHash } = await transaction.apiKey.findUniqueOrThrow({
      where: { id },
      select: { keyHash: true },
    });
    const data = { keyHash, keyPrefix, previousKeyHash, previousValidUntil };
    const key = await transaction.apiKey.update({ where: { id }, data, select: apiKeySelect });
    return { apiKey: token, key };
  });
}

const expired = () =>
  new ServiceError(
    'INVALID_TRANSITION',
    'This API key has expired. Change its expiry first. Nothing was changed.',
  );
