import { type AccountExport, exportAccount } from '../../services/account/export.ts';
import { exportEndUsers } from '../../services/end-user/export.ts';
import { ServiceError } from '../../services/errors.ts';
import { gather, isPages } from '../../services/export-pages.ts';
import { builder } from '../builder.ts';
import { rateLimited } from '../rate-limit.ts';

/** An export reads whole tables: five fit into one document. */
const complexity = { field: 4000, multiplier: 1 };

/** The interface writes this one field of a key with underscores, and an export is the same however it is asked for. */
const exportedApiKey = ({ lastUsedAt, ...key }: AccountExport['apiKeys'][number]) => ({
  ...key,
  last_used_at: lastUsedAt,
});

/** Of one kind: an answer of GraphQL is made in one piece, and REST's is sent as it is read. */
const mostRows = 20_000;

/**
 * An export with its lists whole.
 * @param path where REST has it
 * @throws {ServiceError} VALIDATION_FAILED where a list is too long for that
 */
async function whole(exported: object, path: string): Promise<object> {
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(exported)) {
    members[name] = isPages(member) ? ((await gather(member, mostRows)) ?? tooMany(name, path)) : member;
  }
  return members;
}

function tooMany(name: string, path: string): never {
  const message = `Over GraphQL an export has at most ${mostRows} ${name}, and this one has more: get it from ${path}.`;
  throw new ServiceError('VALIDATION_FAILED', message, { issues: [{ path: [], message }] });
}

builder.queryFields((t) => ({
  accountExport: t.field({
    ...rateLimited('accountSensitive'),
    type: 'JSONObject',
    nullable: true,
    description:
      'All that is kept of your account: developer, applications, licenses without their keys, end users, bans, API keys, and the newest 10,000 entries of the log; as REST exports it, of which at most 20,000 of each kind fit in here. It is noted in the log. Null comes with an UNAUTHENTICATED or VALIDATION_FAILED error.',
    complexity,
    resolve: async (_parent, _args, { service }) => {
      const { apiKeys, ...rest } = await exportAccount({ ctx: service });
      return whole({ ...rest, apiKeys: apiKeys.map(exportedApiKey) }, 'GET /api/v1/account/export');
    },
  }),
  endUserExport: t.field({
    type: 'JSONObject',
    nullable: true,
    description:
      "All that is kept of an application's end users: accounts, licenses, sessions, bans, and the newest 10,000 entries of its log; as REST exports it, of which at most 20,000 of each kind fit in here. Null comes with an APP_NOT_FOUND or VALIDATION_FAILED error.",
    args: { applicationId: t.arg.id({ required: true, description: 'The application.' }) },
    complexity,
    resolve: async (_parent, { applicationId }, { service }) =>
      whole(
        await exportEndUsers({ ctx: service, input: { applicationId } }),
        `GET /api/v1/apps/${applicationId}/users/export`,
      ),
  }),
}));
