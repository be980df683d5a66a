import type { Prisma } from '../../db/client.ts';

/** What its owner is shown of an API key: selected, so that the hash is never read. */
export const apiKeySelect = {
  id: true,
  name: true,
  keyPrefix: true,
  createdAt: true,
  lastUsedAt: true,
  revokedAt: true,
} as const satisfies Prisma.ApiKeySelect;

export type ApiKeyRow = Prisma.ApiKeyGetPayload<{ select: typeof apiKeySelect }>;

export interface ApiKeyView {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  /** To within a minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
  readonly revoked: boolean;
}

export const apiKeyView = ({ revokedAt, ...key }: ApiKeyRow): ApiKeyView => ({
  ...key,
  revoked: revokedAt !== null,
});
