import { createApiKeyToken } from '../../crypto/api-key-token.ts';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { lockAccountForCount, requireRoom } from '../require-room.ts';
import { everyScope } from '../scopes.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { createApiKeyInput } from './fields.ts';
import { requireFuture } from './require-expiry.ts';
import { requireMayGrant } from './require-may-grant.ts';
import { type ApiKeyRow, apiKeySelect, type IssuedApiKey } from './view.ts';

/** Warning shown with a new token. */
export const apiKeyWarning = ({
  scopes,
  applicationId,
}: Pick<ApiKeyRow, 'scopes' | 'applicationId'>): string =>
  scopes.includes(everyScope) && applicationId === null
    ? 'This key opens the whole account, and is shown only now. Store it where only your program reads it.'
    : 'This key is shown only now. Store it where only your program reads it.';

/**
 * Creates an API key, by default for the whole account. The database stores only its hash. A caller with an API key
 * gives no more than their own key has.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, APP_NOT_FOUND, LIMIT_REACHED
 */
export async function createApiKey({
  ctx,
  input: given,
}: CallOf<typeof createApiKeyInput>): Promise<IssuedApiKey> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(createApiKeyInput, given);
  await requireConfirmation(ctx);
  const { name, scopes = [everyScope], applicationId = null, allowedCidrs } = input;
  const now = new Date(ctx.env.clock.now());
  const expiresAt = input.expiresAt === undefined ? null : new Date(input.expiresAt);
  requireFuture(expiresAt, now);
  if (applicationId !== null) await requireOwnApplication(ctx, applicationId, 'account:write');
  const { token, keyPrefix, keyHash } = createApiKeyToken();
  const grant = { scopes, allowedCidrs, expiresAt };
  return developerTransaction(ctx, developerId, async (transaction) => {
    await lockAccountForCount(ctx, transaction, developerId);
    await requireMayGrant(ctx, transaction, grant);
    await requireRoom(ctx, transaction, 'apiKeys', { ownerId: developerId, more: 1 });
    // Its deletion deletes its keys, and waits for this one.
    if (applicationId !== null && !(await lockApplication(transaction, applicationId))) {
      throw applicationNotFound();
    }
    const created = await transaction.apiKey.create({
      data: { id: newId(), developerId, name, keyPrefix, keyHash, applicationId, createdAt: now, ...grant },
      select: apiKeySelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'api_key_created',
      metadata: {
        apiKeyId: created.id,
        name,
        ...(input.scopes !== undefined && { scopes }),
        ...(applicationId !== null && { applicationId }),
      },
    });
    return { apiKey: token, key: created };
  });
}
