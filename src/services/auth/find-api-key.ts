import { apiKeyTokenHash } from '../../crypto/api-key-token.ts';
import { isInCidr } from '../../lib/cidr.ts';
import type { DeveloperId } from '../../lib/ids.ts';
import type { ApiKeyActor, Rejection } from '../actor.ts';
import type { ClientOrigin } from '../client-origin.ts';
import type { ServiceEnvironment } from '../context.ts';

interface KeyRow {
  readonly id: string;
  readonly developerId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly applicationId: string | null;
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Date | null;
  readonly previousValidUntil: Date | null;
  readonly revokedAt: Date | null;
  readonly isCurrent: boolean;
}

const byHash = `
  SELECT id, developer_id AS "developerId", name, scopes, application_id AS "applicationId",
    allowed_cidrs AS "allowedCidrs", expires_at AS "expiresAt", previous_valid_until AS "previousValidUntil",
    revoked_at AS "revokedAt", key_hash = $1 AS "isCurrent"
  FROM api_keys WHERE key_hash = $1 OR previous_key_hash = $1`;

/**
 * Finds the API key of a token, and judges whether it may be used now from the client's address.
 * @returns the actor, or why the key is refused: `apiKey` if there is no such key
 */
export async function findApiKey(
  { database, clock }: Pick<ServiceEnvironment, 'database' | 'clock'>,
  token: string,
  { ip }: Pick<ClientOrigin, 'ip'>,
): Promise<ApiKeyActor | Exclude<Rejection, 'cookie'>> {
  const keyHash = apiKeyTokenHash(token);
  if (keyHash === null) return 'apiKey';
  const { rows } = await database.pool.query<KeyRow>(byHash, [keyHash]);
  const [key] = rows;
  if (key === undefined || key.revokedAt !== null) return 'apiKey';
  const ends = key.isCurrent ? [key.expiresAt] : [key.expiresAt, key.previousValidUntil];
  if (ends.some((end) => end !== null && end.getTime() <= clock.now())) return 'expiredApiKey';
  const { allowedCidrs } = key;
  const isAllowed =
    allowedCidrs.length === 0 || allowedCidrs.some((cidr) => ip !== null && isInCidr(ip, cidr));
  if (!isAllowed) return 'apiKeyAddress';
  return {
    type: 'developer',
    via: 'apiKey',
    developerId: key.developerId as DeveloperId,
    apiKeyId: key.id,
    name: key.name,
    keyHash,
    scopes: key.scopes,
    applicationId: key.applicationId,
    allowedCidrs,
  };
}
