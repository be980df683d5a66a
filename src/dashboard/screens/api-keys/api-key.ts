import { graphql } from '../../generated/gql.ts';
import type { ApiKeysKeyFragment } from '../../generated/graphql.ts';
import type { Tone } from '../../ui/status.tsx';

export const ApiKeysKey = graphql(`
  fragment ApiKeysKey on ApiKey {
    id
    name
    keyPrefix
    scopes
    applicationId
    allowedCidrs
    expiresAt
    previousValidUntil
    lastUsedAt
    createdAt
    revoked
  }
`);

export type ApiKeyRow = ApiKeysKeyFragment;

const isPast = (iso: string | null | undefined, now: number): boolean =>
  typeof iso === 'string' && new Date(iso).getTime() <= now;

export const isExpired = ({ expiresAt }: ApiKeyRow, now: number): boolean => isPast(expiresAt, now);

/** When the token before the last rotation stops working; null if it no longer works. */
export const overlapOf = ({ previousValidUntil, revoked }: ApiKeyRow, now: number): string | null =>
  revoked || !previousValidUntil || isPast(previousValidUntil, now) ? null : previousValidUntil;

export function stateOf(key: ApiKeyRow, now: number): { readonly tone: Tone; readonly label: string } {
  if (key.revoked) return { tone: 'bad', label: 'Revoked' };
  if (isExpired(key, now)) return { tone: 'idle', label: 'Expired' };
  return overlapOf(key, now) === null
    ? { tone: 'ok', label: 'Active' }
    : { tone: 'warn', label: 'Two tokens' };
}
