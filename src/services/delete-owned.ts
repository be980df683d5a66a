import type { Prisma } from '../db/client.ts';
import { deletedOwnerEmail, rowsAtOnce, unusablePasswordHash } from '../db/deleted-owners.ts';
import { newId } from '../lib/ids.ts';
import type { ServiceContext } from './context.ts';

/**
 * Deletes an application and everything that belongs to it. A large one in the embedded database is only moved to a
 * placeholder owner here; maintenance then deletes it in slices (sweepDeletedOwners).
 * @throws {Error} Prisma's error if the application does not exist
 */
export async function deleteOwnedApplication(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  id: string,
): Promise<{ readonly name: string }> {
  const application = { where: { id, developerId }, select: { name: true } };
  if (!(await isLarge(ctx, transaction, [id], null))) return transaction.application.delete(application);
  const ownerId = await createDeletedOwner(ctx, transaction);
  return transaction.application.update({ ...application, data: { developerId: ownerId } });
}

/**
 * Deletes a webhook with its deliveries; one with many of them later, in slices, as with an application.
 * @returns false if the developer has no such webhook
 */
export async function deleteOwnedWebhook(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  id: string,
): Promise<boolean> {
  const [found] = await transaction.$queryRaw<{ isLarge: boolean }[]>`
    SELECT EXISTS (SELECT FROM webhook_deliveries WHERE webhook_id = ${id}::uuid OFFSET ${rowsAtOnce}) AS "isLarge"`;
  const where = { id, developerId };
  const { count } =
    found?.isLarge === true
      ? await transaction.webhook.updateMany({
          where,
          data: { developerId: await createDeletedOwner(ctx, transaction), ...disabledNow(ctx) },
        })
      : await transaction.webhook.deleteMany({ where });
  return count > 0;
}

/** Nothing is sent to the webhooks of a deleted owner. */
const disabledNow = ({ env: { clock } }: ServiceContext) => ({
  disabledAt: new Date(clock.now()),
  disabledReason: 'vendor' as const,
});

async function createDeletedOwner(
  { env: { clock } }: ServiceContext,
  transaction: Prisma.TransactionClient,
): Promise<string> {
  const id = newId();
  const now = new Date(clock.now());
  await transaction.developer.create({
    data: { id, name: 'Deleted', ...deletedOwner(id), createdAt: now, updatedAt: now },
  });
  return id;
}

/** Deletes a developer and everything that belongs to them; a large account in the embedded database later, in slices. */
export async function deleteOwner(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  applicationIds: readonly string[],
): Promise<void> {
  if (!(await isLarge(ctx, transaction, applicationIds, developerId))) {
    await transaction.developer.deleteMany({ where: { id: developerId } });
    return;
  }
  await transaction.apiKey.deleteMany({ where: { developerId } });
  await transaction.accountSession.deleteMany({ where: { developerId } });
  await transaction.recoveryCode.deleteMany({ where: { developerId } });
  await transaction.webhook.updateMany({ where: { developerId }, data: disabledNow(ctx) });
  await transaction.developer.update({
    where: { id: developerId },
    data: {
      name: 'Deleted',
      ...deletedOwner(developerId),
      sessionVersion: { increment: 1 },
      totpEnabledAt: null,
      totpSecretEncrypted: null,
    },
  });
}

const deletedOwner = (id: string) => ({
  email: deletedOwnerEmail(id),
  emailNormalized: deletedOwnerEmail(id),
  passwordHash: unusablePasswordHash,
});

/**
 * True if deleting everything at once would block an embedded database for long. On a server, a deletion locks only its
 * own rows.
 */
async function isLarge(
  { env: { database } }: ServiceContext,
  transaction: Prisma.TransactionClient,
  applicationIds: readonly string[],
  developerId: string | null,
): Promise<boolean> {
  if (database.kind === 'server') return false;
  if (applicationIds.length > rowsAtOnce) return true;
  const [found] = await transaction.$queryRaw<{ isLarge: boolean }[]>`
    WITH application AS (SELECT unnest(${applicationIds}::uuid[]) AS id)
    SELECT EXISTS (SELECT FROM application JOIN licenses ON application_id = application.id OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM application JOIN end_users ON application_id = application.id OFFSET ${rowsAtOnce})
      OR EXISTS (
        SELECT FROM application JOIN end_users ON application_id = application.id
          JOIN end_user_sessions ON end_user_id = end_users.id OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM application JOIN bans ON application_id = application.id OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM application JOIN leases ON application_id = application.id OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM application JOIN security_log ON application_id = application.id OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM security_log WHERE developer_id = ${developerId}::uuid OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM idempotent_answers WHERE developer_id = ${developerId}::uuid OFFSET ${rowsAtOnce})
      OR EXISTS (SELECT FROM events WHERE developer_id = ${developerId}::uuid OFFSET ${rowsAtOnce})
      OR EXISTS (
        SELECT FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id
        WHERE developer_id = ${developerId}::uuid OFFSET ${rowsAtOnce})
      AS "isLarge"`;
  return found?.isLarge === true;
}
