import type { Prisma } from '../db/client.ts';
import { type ApiKeyActor, type DeveloperActor, unauthenticated } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { ServiceError } from './errors.ts';

/** SQL of conditions on a credential. `$1` is the developer's id; `values` are `$2` and so on. */
export interface CredentialConditions {
  /** Finds a row while the credential is valid. */
  readonly isGood: string;
  /** Finds a row while it may do what it could when the request began. */
  readonly isUnchanged: string;
  readonly values: readonly unknown[];
}

export function credentialConditions(actor: DeveloperActor, now: Date): CredentialConditions {
  switch (actor.via) {
    case 'cookie':
      return actor.sessionId === null
        ? {
            isGood: 'SELECT FROM developers WHERE id = $1::uuid AND session_version = $2::int',
            isUnchanged: 'SELECT',
            values: [actor.sessionVersion],
          }
        : {
            isGood: `SELECT FROM developers JOIN account_sessions USING (session_version)
              WHERE developers.id = $1::uuid AND account_sessions.id = $2::uuid AND developer_id = $1::uuid`,
            isUnchanged: 'SELECT',
            values: [actor.sessionId],
          };
    case 'apiKey':
      return keyConditions(actor, now);
  }
}

const keyConditions = (
  { apiKeyId, keyHash, scopes, allowedCidrs }: ApiKeyActor,
  now: Date,
): CredentialConditions => ({
  isGood: `SELECT FROM api_keys WHERE id = $2::uuid AND developer_id = $1::uuid AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > $4::timestamptz)
    AND (key_hash = $3::bytea OR previous_key_hash = $3::bytea AND previous_valid_until > $4::timestamptz)`,
  isUnchanged:
    'SELECT FROM api_keys WHERE id = $2::uuid AND scopes = $5::text[] AND allowed_cidrs = $6::text[]',
  values: [apiKeyId, keyHash, now, scopes, allowedCidrs],
});

/**
 * Checks the caller's credential again, in the transaction of their change. A request may begin, wait, and change something
 * after its session was ended or its key revoked: whoever has a stolen credential could send the beginning of requests
 * before, and complete them after the owner has locked them out. Call it after the locks that such an end takes too.
 * @param developerId whose account is changed; a caller who is somebody else has proved themselves in another way, as in a login
 * @throws {ServiceError} UNAUTHENTICATED; UNAVAILABLE if the rights of the API key were changed meanwhile
 */
export async function requireCredential(
  { actor, env }: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
): Promise<void> {
  if (actor.type !== 'developer' || actor.developerId !== developerId) return;
  const { isGood, isUnchanged, values } = credentialConditions(actor, new Date(env.clock.now()));
  const [found] = await transaction.$queryRawUnsafe<{ isGood: boolean; isUnchanged: boolean }[]>(
    `SELECT EXISTS (${isGood}) AS "isGood", EXISTS (${isUnchanged}) AS "isUnchanged"`,
    developerId,
    ...values,
  );
  if (found?.isGood !== true) throw unauthenticated(actor.via);
  if (found.isUnchanged) return;
  throw new ServiceError(
    'UNAVAILABLE',
    'The rights of this API key were changed during the request. Nothing was changed: send it again.',
  );
}
