import type { Prisma } from '../../db/client.ts';
import { readScopes, type Scope } from '../scopes.ts';

/** The columns of an API key that its owner can read; the hashes are never read. */
export const apiKeySelect = {
  id: true,
  name: true,
  keyPrefix: true,
  scopes: true,
  applicationId: true,
  allowedCidrs: true,
  expiresAt: true,
  /** When the token before the last rotation ends or ended; null if there was none. */
  previousValidUntil: true,
  createdAt: true,
  /** Accurate to a minute; null if never used. */
  lastUsedAt: true,
  revokedAt: true,
} as const satisfies Prisma.ApiKeySelect;

export type ApiKeyRow = Prisma.ApiKeyGetPayload<{ select: typeof apiKeySelect }>;

export interface ApiKeyView extends Omit<ApiKeyRow, 'revokedAt' | 'scopes'> {
  readonly scopes: readonly Scope[];
  readonly revoked: boolean;
}

export const apiKeyView = ({ revokedAt, scopes, ...key }: ApiKeyRow): ApiKeyView => ({
  ...key,
  scopes: readScopes(scopes),
  revoked: revokedAt !== null,
});

/** A key with its new token, the only place where the token appears. */
export interface IssuedApiKey {
  readonly apiKey: string;
  readonly key: ApiKeyRow;
}
