import { createApiKeyToken } from '../../crypto/api-key-token.ts';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { displayName, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { lockAccountForCount, requireRoom } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

export const createApiKeyInput = strictObject({ name: displayName });

/** Warning shown with a new key. */
export const apiKeyWarning =
  'This key opens the whole account, and is shown only now. Store it where only your program reads it.';

/** A new key, the only place where its token appears. */
export interface CreatedApiKey {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
}

/**
 * Creates an API key for the whole account. The database stores only its hash.
 * @throws {ServiceError} UNAUTHENTICATED, LIMIT_REACHED
 */
export async function createApiKey({
  ctx,
  input: given,
}: CallOf<typeof createApiKeyInput>): Promise<CreatedApiKey> {
  const developerId = requireDeveloper(ctx.actor);
  const input = parseInput(createApiKeyInput, given);
  const { token, keyPrefix, keyHash } = createApiKeyToken();
  const row = { id: newId(), name: input.name, keyPrefix, createdAt: new Date(ctx.env.clock.now()) };
  await developerTransaction(ctx, developerId, async (transaction) => {
    await lockAccountForCount(transaction, developerId);
    await requireRoom(ctx, transaction, 'apiKeys', { ownerId: developerId, more: 1 });
    await transaction.apiKey.create({ data: { ...row, developerId, keyHash } });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'api_key_created',
      metadata: { apiKeyId: row.id, name: row.name },
    });
  });
  return { ...row, apiKey: token };
}
