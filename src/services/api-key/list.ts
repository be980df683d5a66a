import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { apiKeysOfDevelopers } from './lists.ts';

/** The columns of an API key that its owner can read; the hash is never read. */
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
  /** Accurate to a minute; null if never used. */
  readonly lastUsedAt: Date | null;
  readonly revoked: boolean;
}

export const apiKeyView = ({ revokedAt, ...key }: ApiKeyRow): ApiKeyView => ({
  ...key,
  revoked: revokedAt !== null,
});

/**
 * Lists the caller's API keys, including revoked ones, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listApiKeys({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: ListInput;
}): Promise<Page<ApiKeyView>> {
  const developerId = requireDeveloper(ctx.actor);
  return readList<ApiKeyRow, ApiKeyView>(ctx, apiKeysOfDevelopers, developerId, input, apiKeyView);
}
