import type { Prisma } from '../../db/client.ts';
import { containsCidr } from '../../lib/cidr.ts';
import { type Actor, unauthenticated } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { everyScope, readScopes } from '../scopes.ts';

/** What a key opens, and until when. */
export interface Grant {
  /** As stored. */
  readonly scopes: readonly string[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Date | null;
}

/**
 * Checks that a caller with an API key gives a key nothing that their own key does not have. Their key is read again,
 * because it may have been changed or revoked since the request began. The caller has locked the account
 * (`lockAccountForCount`), as every change of a key does.
 * @param grant what the key opens after the change
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function requireMayGrant(
  { actor, env }: ServiceContext,
  transaction: Prisma.TransactionClient,
  grant: Grant,
): Promise<void> {
  const own = await grantOf(actor, transaction, new Date(env.clock.now()));
  if (own === null) return;
  const missing = readScopes(grant.scopes).find((scope) => !readScopes(own.scopes).includes(scope));
  if (missing !== undefined) throw beyondOwn(`the scope ${missing}, which it does not have`);
  if (grant.scopes.includes(everyScope) && !own.scopes.includes(everyScope)) {
    throw beyondOwn('the scopes of later versions: list the scopes');
  }
  if (!isWithin(grant.allowedCidrs, own.allowedCidrs)) throw beyondOwn('addresses beyond its own');
  if (own.expiresAt !== null && (grant.expiresAt === null || grant.expiresAt > own.expiresAt)) {
    throw beyondOwn('a later expiry than its own');
  }
}

const beyondOwn = (what: string) =>
  new ServiceError('INSUFFICIENT_SCOPE', `This API key cannot give a key ${what}.`);

/** Without networks, a key may be used from anywhere. */
const isWithin = (cidrs: readonly string[], own: readonly string[]): boolean =>
  own.length === 0 ||
  (cidrs.length > 0 && cidrs.every((inner) => own.some((outer) => containsCidr(outer, inner))));

/** Null for a session, which has everything. */
async function grantOf(
  actor: Actor,
  transaction: Prisma.TransactionClient,
  now: Date,
): Promise<Grant | null> {
  if (actor.type !== 'developer' || actor.via === 'cookie') return null;
  const key = await transaction.apiKey.findUnique({
    where: { id: actor.apiKeyId, revokedAt: null },
    select: { scopes: true, allowedCidrs: true, expiresAt: true, keyHash: true },
  });
  if (key === null || (key.expiresAt !== null && key.expiresAt <= now)) throw unauthenticated('apiKey');
  // Otherwise whoever has only the old token could keep what the rotation takes from them.
  if (Buffer.compare(actor.keyHash, key.keyHash) !== 0) throw replaced();
  return key;
}

const replaced = () =>
  new ServiceError(
    'INSUFFICIENT_SCOPE',
    'This token was replaced by a rotation, and can no longer create, change or rotate keys. Use the new one.',
  );
