import { Prisma } from '../db/client.ts';
import type { ServiceContext } from './context.ts';
import type { CountLimitName } from './count-limits.ts';
import { ServiceError } from './errors.ts';

interface Counted {
  /** What an owner has of them. */
  readonly rows: (ownerId: string) => Prisma.Sql;
  /** What the refusal says of the owner, and what its reader can do. */
  readonly fullness: string;
  readonly remedy: string;
}

/** What is refused beyond its limit. */
const counted = {
  applications: {
    rows: (developerId) => Prisma.sql`applications WHERE developer_id = ${developerId}::uuid`,
    fullness: 'This account has no room for another application',
    remedy: 'Delete one that is not in use',
  },
  apiKeys: {
    rows: (developerId) =>
      Prisma.sql`api_keys WHERE developer_id = ${developerId}::uuid AND revoked_at IS NULL`,
    fullness: 'This account has no room for another API key',
    remedy: 'Revoke one that is not in use',
  },
  bans: {
    rows: (applicationId) => Prisma.sql`bans WHERE application_id = ${applicationId}::uuid`,
    fullness: 'This application has no room for another banned device or address, and nothing was banned',
    remedy: 'Remove bans that are not needed, or ban the license alone, with scope license',
  },
} as const satisfies Partial<Record<CountLimitName, Counted>>;

/**
 * Has those who create something of one developer's and count it take turns: holds the account until the transaction
 * ends, against each other and against nobody else.
 */
export async function takeTurn(transaction: Prisma.TransactionClient, developerId: string): Promise<void> {
  await transaction.$queryRaw`SELECT id FROM developers WHERE id = ${developerId}::uuid FOR NO KEY UPDATE`;
}

/**
 * Makes sure that an owner has room. The owner's row has to be held against others who count, by an earlier statement:
 * one that waited does not see what was committed meanwhile. An owner who has more than the limit, as after it was
 * lowered, keeps what there is, and gets no more.
 * @param more how many are about to be created; 0 where they are created already, to be undone
 * @throws {ServiceError} LIMIT_REACHED
 */
export async function requireRoom(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  name: keyof typeof counted,
  { ownerId, more }: { readonly ownerId: string; readonly more: number },
): Promise<void> {
  const most = ctx.env.settings.countLimits[name];
  const { rows, fullness, remedy } = counted[name];
  const [found] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM (SELECT FROM ${rows(ownerId)} LIMIT ${most + 1}) AS own`;
  if (found !== undefined && found.count + more <= most) return;
  throw new ServiceError(
    'LIMIT_REACHED',
    `${fullness}: it can have ${most.toLocaleString('en-US')}. ${remedy}, or have the operator raise ${name} in COUNT_LIMITS.`,
  );
}
