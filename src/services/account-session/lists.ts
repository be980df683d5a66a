import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { instant } from '../../db/from-json.ts';
import { columnsOf, type ListTable, listSource } from '../list-source.ts';
import { accountSessionSelect } from './view.ts';

export const accountSessionTable = {
  name: 'account_sessions',
  columns: columnsOf('account_sessions', accountSessionSelect),
  fromJson: { createdAt: instant, lastSeenAt: instant, expiresAt: instant },
  developerId: 'account_sessions.developer_id',
  applicationId: null,
  readScope: 'account:read',
} satisfies ListTable;

/** A developer's sessions: those whose cookies are still good. */
export const sessionsOfDevelopers = listSource<object>({
  filter: z.object({}),
  table: accountSessionTable,
  parentColumn: 'developer_id',
  matches: (_filter, { env }) => Prisma.sql`
    account_sessions.expires_at > ${new Date(env.clock.now())}
    AND account_sessions.session_version =
      (SELECT session_version FROM developers WHERE developers.id = account_sessions.developer_id)`,
});
