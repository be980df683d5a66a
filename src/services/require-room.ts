import { Prisma } from '../db/client.ts';
import { isNotDeletedOwner } from '../db/deleted-owners.ts';
import type { ServiceContext } from './context.ts';
import type { CountLimitName } from './count-limits.ts';
import { requireCredential } from './credential.ts';
import { ServiceError } from './errors.ts';

interface Counted {
  /** The owner's rows that count. */
  readonly rows: (ownerId: string) => Prisma.Sql;
  /** The beginning of the error message. */
  readonly refusal: string;
  readonly remedy: string;
}

/** Things whose creation fails above the limit. (Sessions are limited differently: the oldest one ends.) */
const counted = {
  applications: {
    rows: (developerId) => Prisma.sql`applications WHERE developer_id = ${developerId}::uuid`,
    refusal: 'This account cannot have another application',
    remedy: 'Delete one that is not in use',
  },
  apiKeys: {
    rows: (developerId) =>
      Prisma.sql`api_keys WHERE developer_id = ${developerId}::uuid AND revoked_at IS NULL`,
    refusal: 'This account cannot have another API key',
    remedy: 'Revoke one that is not in use',
  },
  bans: {
    rows: (applicationId) => Prisma.sql`bans WHERE application_id = ${applicationId}::uuid`,
    refusal: 'This application cannot have another banned device or address, and nothing was banned',
    remedy: 'Remove bans that are not needed, or ban only the license (scope license)',
  },
  policies: {
    rows: (applicationId) => Prisma.sql`policies WHERE application_id = ${applicationId}::uuid`,
    refusal: 'This application cannot have another policy',
    remedy: 'Delete one that is not in use',
  },
  webhooks: {
    rows: (developerId) => Prisma.sql`webhooks WHERE developer_id = ${developerId}::uuid`,
    refusal: 'This account cannot have another webhook',
    remedy: 'Delete one that is not in use',
  },
} as const satisfies Partial<Record<CountLimitName, Counted>>;

/**
 * Serializes transactions that create and count something of the same developer, by locking the account's row until the
 * transaction ends. It blocks no other transactions. What ends sessions and keys takes this lock too, so the caller's
 * credential is checked again.
 * @throws {ServiceError} UNAUTHENTICATED, UNAVAILABLE
 */
export async function lockAccountForCount(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
): Promise<void> {
  await transaction.$queryRaw`SELECT id FROM developers WHERE id = ${developerId}::uuid FOR NO KEY UPDATE`;
  await requireCredential(ctx, transaction, developerId);
}

/**
 * The same for something of an application. It blocks no other transactions, except the application's deletion.
 * @returns false if the application does not exist
 */
export async function lockApplicationForCount(
  transaction: Prisma.TransactionClient,
  applicationId: string,
): Promise<boolean> {
  const locked = await transaction.$queryRaw<unknown[]>`
    SELECT applications.id FROM applications JOIN developers ON developers.id = applications.developer_id
    WHERE applications.id = ${applicationId}::uuid AND ${notDeleted} FOR NO KEY UPDATE OF applications`;
  return locked.length > 0;
}

const notDeleted = Prisma.raw(isNotDeletedOwner);

/**
 * Checks that an owner is below a limit. An earlier statement must have locked the owner's row: a statement that itself
 * waits for the lock does not see what was committed while it waited. An owner above the limit, for example after it was
 * lowered, keeps everything but cannot create more.
 * @param more number of rows about to be created; 0 if they exist already and are rolled back on error
 * @throws {ServiceError} LIMIT_REACHED
 */
export async function requireRoom(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  name: keyof typeof counted,
  { ownerId, more }: { readonly ownerId: string; readonly more: number },
): Promise<void> {
  const limit = ctx.env.settings.countLimits[name];
  const { rows, refusal, remedy } = counted[name];
  const [found] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM (SELECT FROM ${rows(ownerId)} LIMIT ${limit + 1}) AS own`;
  if (found !== undefined && found.count + more <= limit) return;
  throw new ServiceError(
    'LIMIT_REACHED',
    `${refusal}: the limit is ${limit.toLocaleString('en-US')}. ${remedy}, or ask the operator to raise ${name} in COUNT_LIMITS.`,
  );
}
