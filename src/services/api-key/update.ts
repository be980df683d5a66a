import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { apiKeyChangeNotEmpty, updateApiKeyInput } from './fields.ts';
import { lockApiKey } from './lock.ts';
import { requireFuture } from './require-expiry.ts';
import { requireMayGrant } from './require-may-grant.ts';
import { type ApiKeyView, apiKeySelect, apiKeyView } from './view.ts';

const changeInput = updateApiKeyInput.refine(apiKeyChangeNotEmpty, 'must have at least one member of a key');

/**
 * Changes the members of an API key that were sent. It holds from the next request on. Open streams of the key are
 * interrupted, and begin again if the key still allows it. A caller with an API key cannot change a key that opens more
 * than their own afterwards.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, API_KEY_NOT_FOUND, INVALID_TRANSITION if it is revoked
 */
export async function updateApiKey({
  ctx,
  input,
}: Call<{ id: string; change: z.input<typeof updateApiKeyInput> }>): Promise<ApiKeyView> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const { expiresAt, ...change } = parseInput(changeInput, input.change);
  await requireConfirmation(ctx);
  const data = {
    ...change,
    ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
  };
  requireFuture(data.expiresAt ?? null, new Date(ctx.env.clock.now()));
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const key = await lockApiKey(ctx, transaction, developerId, input.id);
    await requireMayGrant(ctx, transaction, { ...key, ...data });
    invalidations.credentials(developerId);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'api_key_changed',
      metadata: { apiKeyId: key.id, changed: Object.keys(data) },
    });
    return transaction.apiKey.update({ where: { id: key.id }, data, select: apiKeySelect });
  });
  return apiKeyView(row);
}
