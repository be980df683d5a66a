import type { Prisma } from '../../db/client.ts';
import { actorOfEntry, type LoggedActor } from './actor.ts';

/** The columns of an entry that its owner can read. */
export const securityLogSelect = {
  id: true,
  applicationId: true,
  event: true,
  code: true,
  licenseId: true,
  userId: true,
  ip: true,
  country: true,
  hwid: true,
  metadata: true,
  createdAt: true,
  actorKind: true,
  actorId: true,
  actorName: true,
} as const satisfies Prisma.SecurityLogEntrySelect;

export type SecurityLogEntryRow = Prisma.SecurityLogEntryGetPayload<{ select: typeof securityLogSelect }>;

export interface SecurityLogView extends Omit<SecurityLogEntryRow, 'actorKind' | 'actorId' | 'actorName'> {
  /** Null in entries from before actors were recorded. */
  readonly actor: LoggedActor | null;
}

export const securityLogView = ({
  actorKind,
  actorId,
  actorName,
  ...entry
}: SecurityLogEntryRow): SecurityLogView => ({
  ...entry,
  actor: actorOfEntry({ actorKind, actorId, actorName }),
});
