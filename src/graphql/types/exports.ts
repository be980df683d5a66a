import { type AccountExport, exportAccount } from '../../services/account/export.ts';
import { exportEndUsers } from '../../services/end-user/export.ts';
import { builder } from '../builder.ts';
import { rateLimited } from '../rate-limit.ts';

/** An export reads whole tables: five fit into one document. */
const complexity = { field: 4000, multiplier: 1 };

/** The interface writes this one field of a key with underscores, and an export is the same however it is asked for. */
const exportedApiKey = ({ lastUsedAt, ...key }: AccountExport['apiKeys'][number]) => ({
  ...key,
  last_used_at: lastUsedAt,
});

builder.queryFields((t) => ({
  accountExport: t.field({
    ...rateLimited('accountSensitive'),
    type: 'JSONObject',
    nullable: true,
    description:
      'All that is kept of your account: developer, applications, licenses without their keys, end users, bans, API keys, and the newest 10,000 entries of the log; as REST exports it. It is noted in the log. Null comes with an UNAUTHENTICATED error.',
    complexity,
    resolve: async (_parent, _args, { service }) => {
      const { apiKeys, ...rest } = await exportAccount({ ctx: service });
      return { ...rest, apiKeys: apiKeys.map(exportedApiKey) };
    },
  }),
  endUserExport: t.field({
    type: 'JSONObject',
    nullable: true,
    description:
      "All that is kept of an application's end users: accounts, licenses, sessions, bans, and the newest 10,000 entries of its log; as REST exports it. Null comes with an APP_NOT_FOUND error.",
    args: { applicationId: t.arg.id({ required: true, description: 'The application.' }) },
    complexity,
    resolve: (_parent, { applicationId }, { service }) =>
      exportEndUsers({ ctx: service, input: { applicationId } }),
  }),
}));
