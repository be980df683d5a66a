import type { Prisma } from '../../db/client.ts';

/** The columns of an API key that its owner can read; the hash is never read. */
export const apiKeySelect = {
  id: true,
  name: true,
  keyPrefix: true,
  createdAt: true,
  /** Accurate to a minute; null if never used. */
  lastUsedAt: true,
  revokedAt: true,
} as const satisfies Prisma.ApiKeySelect;

export type ApiKeyRow = Prisma.ApiKeyGetPayload<{ select: typeof apiKeySelect }>;

export interface ApiKeyView extends Omit<ApiKeyRow, 'revokedAt'> {
  readonly revoked: boolean;
}

export const apiKeyView = ({ revokedAt, ...key }: ApiKeyRow): ApiKeyView => ({
  ...key,
  revoked: revokedAt !== null,
});
