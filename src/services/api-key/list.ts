import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';

/** What its owner is shown of an API key: selected, so that the hash is never read. */
const apiKeySelect = {
  id: true,
  name: true,
  keyPrefix: true,
  createdAt: true,
  lastUsedAt: true,
  revokedAt: true,
} as const satisfies Prisma.ApiKeySelect;

export interface ApiKeyView {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  /** To within a minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
  readonly revoked: boolean;
}

/**
 * All API keys of the developer who asks, newest first, revoked ones too.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listApiKeys({ ctx }: { ctx: ServiceContext }): Promise<ApiKeyView[]> {
  const rows = await ctx.env.database.prisma.apiKey.findMany({
    where: { developerId: requireDeveloper(ctx.actor) },
    orderBy: { id: 'desc' },
    select: apiKeySelect,
  });
  return rows.map(({ revokedAt, ...key }) => ({ ...key, revoked: revokedAt !== null }));
}
