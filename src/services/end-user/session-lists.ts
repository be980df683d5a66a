import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import type { ServiceContext } from '../context.ts';
import { type ListTable, listSource } from '../list-source.ts';
import { readChildren } from '../read-children.ts';

/** The readable columns of an end user's session; the token's hash is not among them. */
export interface SessionRow {
  readonly id: string;
  readonly ip: string | null;
  readonly hwid: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const sessionTable = {
  name: 'end_user_sessions',
  columns: {
    id: 'end_user_sessions.id',
    ip: 'end_user_sessions.ip',
    hwid: 'end_user_sessions.hwid',
    createdAt: 'end_user_sessions.created_at',
    expiresAt: 'end_user_sessions.expires_at',
  } satisfies Record<keyof SessionRow, string>,
  fromJson: { createdAt: instant, expiresAt: instant } satisfies FromJsonOf<SessionRow>,
  developerId: `(SELECT applications.developer_id FROM end_users
    JOIN applications ON applications.id = end_users.application_id
    WHERE end_users.id = end_user_sessions.end_user_id)`,
  applicationId:
    '(SELECT end_users.application_id FROM end_users WHERE end_users.id = end_user_sessions.end_user_id)',
  readScope: 'users:read',
} as const satisfies ListTable;

/** Drops the parent id that is read along with rows of several users. */
const sessionView = ({ id, ip, hwid, createdAt, expiresAt }: SessionRow): SessionRow => ({
  id,
  ip,
  hwid,
  createdAt,
  expiresAt,
});

/** The sessions of an end user. */
const sessionsOfUsers = listSource<object>({
  filter: z.object({}),
  table: sessionTable,
  parentColumn: 'end_user_id',
  matches: () => Prisma.sql`TRUE`,
});

/** More sessions than most users have, but few enough to hold those of a page of users in memory. */
const atFirst = 100;

/** Reads the sessions of several end users, newest first. */
export const readSessions = (ctx: ServiceContext, userIds: readonly string[]) =>
  readChildren<SessionRow, SessionRow>(ctx, sessionsOfUsers, userIds, { view: sessionView, atFirst });
