import { randomBytes } from 'node:crypto';
import { sealPrivateKey } from '../../crypto/sealed-private-key.ts';
import { createSigner } from '../../crypto/signer.ts';
import { newId } from '../../lib/ids.ts';
import { requireWholeAccount } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { displayName, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { lockAccountForCount, requireRoom } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { applicationVersion } from './update-settings.ts';
import { type ApplicationView, applicationSelect, applicationView } from './view.ts';

export const createApplicationInput = strictObject({
  name: displayName,
  version: applicationVersion.optional(),
});

/**
 * Creates an application with its own Ed25519 key.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LIMIT_REACHED
 */
export async function createApplication({
  ctx,
  input: given,
}: CallOf<typeof createApplicationInput>): Promise<ApplicationView> {
  const developerId = requireWholeAccount(ctx.actor, 'applications:write');
  const input = parseInput(createApplicationInput, given);
  const id = newId();
  const seed = new Uint8Array(randomBytes(32));
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    await lockAccountForCount(ctx, transaction, developerId);
    await requireRoom(ctx, transaction, 'applications', { ownerId: developerId, more: 1 });
    invalidations.application(id);
    const created = await transaction.application.create({
      data: {
        id,
        developerId,
        name: input.name,
        version: input.version ?? '1.0.0',
        publicKey: new Uint8Array(createSigner(seed).publicKey),
        privateKeyEncrypted: sealPrivateKey(ctx.env.keyring, id, seed),
      },
      select: applicationSelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: id,
      event: 'application_created',
      metadata: { name: input.name },
    });
    return created;
  });
  return applicationView(row);
}
