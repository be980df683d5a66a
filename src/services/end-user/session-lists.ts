import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import type { ServiceContext } from '../context.ts';
import type { Pages } from '../export-pages.ts';
import { type ListTable, listSource } from '../list-source.ts';
import type { Sliced } from '../slice.ts';

/** What its owner can be shown of an end user's session: the token's hash is not among it. */
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
} as const satisfies ListTable;

/** What is read of several users' says whose it is as well. */
const sessionView = ({ id, ip, hwid, createdAt, expiresAt }: SessionRow): SessionRow => ({
  id,
  ip,
  hwid,
  createdAt,
  expiresAt,
});

/** The sessions of an end user. */
const sessionsOfUsers = listSource<object>({
  table: sessionTable,
  parentColumn: 'end_user_id',
  matches: () => Prisma.sql`TRUE`,
});

/** More than most users have, and few enough for those of a page of users to be in memory together. */
const rowsAtOnce = 100;

/**
 * The sessions of some end users, newest first: whole where a user has few, as nearly all have, and else as pages that
 * are read as they are asked for.
 */
export async function readSessions(
  ctx: ServiceContext,
  userIds: readonly string[],
): Promise<(userId: string) => SessionRow[] | Pages<SessionRow>> {
  const read = (parentIds: readonly string[], fromId: string | null) =>
    sessionsOfUsers.slices<SessionRow>({
      ctx,
      parentIds,
      filter: {},
      slice: { size: rowsAtOnce, backward: false, fromId },
      lookAhead: true,
      columns: Object.keys(sessionTable.columns),
    });
  async function* pagesFrom(userId: string, first: Sliced<SessionRow>) {
    let slice: Sliced<SessionRow> | undefined = first;
    while (slice !== undefined) {
      if (slice.rows.length > 0) yield slice.rows.map(sessionView);
      const last = slice.rows.at(-1);
      slice = slice.hasNextPage && last ? (await read([userId], last.id)).get(userId) : undefined;
    }
  }
  const newest = await read(userIds, null);
  return (userId) => {
    const slice = newest.get(userId);
    if (slice === undefined) return [];
    return slice.hasNextPage ? pagesFrom(userId, slice) : slice.rows.map(sessionView);
  };
}
