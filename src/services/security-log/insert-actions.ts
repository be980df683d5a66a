import type { Prisma } from '../../db/client.ts';
import { actorColumns, type LoggedActor } from './actor.ts';
import type { SecurityLogRow } from './entry.ts';

/** An entry with who caused it. */
export interface ActionRow extends SecurityLogRow {
  readonly actor: LoggedActor;
}

/**
 * Stores entries about actions, in the transaction of their changes. Their developers and applications are locked, because
 * the log is deleted with them: an entry of one that has been deleted is omitted.
 */
export async function insertActions(
  transaction: Prisma.TransactionClient,
  rows: readonly ActionRow[],
): Promise<void> {
  await transaction.$executeRaw`
    WITH entry AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows.map(recordOf))}::jsonb) AS t (
        id uuid, "developerId" uuid, "applicationId" uuid, event text, code text, "licenseId" uuid, "userId" uuid, ip text,
        country text, hwid text, metadata jsonb, "createdAt" timestamptz, "actorKind" "SecurityActorKind",
        "actorId" uuid, "actorName" text)
    ), developer AS (
      SELECT id FROM developers WHERE id IN (SELECT "developerId" FROM entry) ORDER BY id FOR KEY SHARE
    ), application AS (
      SELECT id FROM applications WHERE id IN (SELECT "applicationId" FROM entry) ORDER BY id FOR KEY SHARE
    )
    INSERT INTO security_log (id, developer_id, application_id, event, code, license_id, user_id, ip, country, hwid, metadata,
      created_at, actor_kind, actor_id, actor_name)
    SELECT entry.* FROM entry JOIN developer ON developer.id = entry."developerId"
    WHERE entry."applicationId" IS NULL OR entry."applicationId" IN (SELECT id FROM application)`;
}

const recordOf = ({ actor, metadata, ...row }: ActionRow) => ({
  ...row,
  ...actorColumns(actor),
  metadata: metadata ?? {},
});
