import { exportAccount } from '../../services/account/export.ts';
import { requireAuthenticated } from '../../services/actor.ts';
import type { ServiceContext } from '../../services/context.ts';
import { exportEndUsers } from '../../services/end-user/export.ts';
import { ServiceError } from '../../services/errors.ts';
import { hasPages, isPages, mapPages, type Pages } from '../../services/export-pages.ts';
import { builder } from '../builder.ts';
import { rateLimited } from '../rate-limit.ts';

/** An export reads whole tables; a document can have five of them. */
const complexity = { field: 4000, multiplier: 1 };

/** A GraphQL response is built in memory, while REST streams its exports. Rows of a kind, and bytes in all. */
const limits = { rows: 20_000, bytes: 32_000_000 } as const;

/** Reads the pages of an export into arrays. */
class WholeExport {
  readonly #path: string;
  readonly #rows = new Map<string, number>();
  #bytes = 0;

  /** @param path the REST route of the same export */
  constructor(path: string) {
    this.#path = path;
  }

  /**
   * An object with its lists as arrays, including lists in rows.
   * @throws {ServiceError} VALIDATION_FAILED if the export is too large for one response
   */
  async read(value: object): Promise<object> {
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      if (Array.isArray(member)) this.#count(name, member.length);
      if (isPages(member)) members[name] = await this.#readList(name, member);
      else members[name] = hasPages(member) ? await this.read(member) : member;
    }
    return members;
  }

  async #readList(name: string, pages: Pages<unknown>): Promise<unknown[]> {
    const rows: unknown[] = [];
    for await (const page of pages) {
      for (const row of page) {
        this.#bytes += Buffer.byteLength(JSON.stringify(row));
        this.#count(name, 1);
        rows.push(typeof row === 'object' && row !== null ? await this.read(row) : row);
      }
    }
    return rows;
  }

  #count(name: string, more: number): void {
    const rows = (this.#rows.get(name) ?? 0) + more;
    this.#rows.set(name, rows);
    if (rows <= limits.rows && this.#bytes <= limits.bytes) return;
    const what =
      rows > limits.rows
        ? `has at most ${limits.rows.toLocaleString('en-US')} ${name}`
        : `is at most ${limits.bytes / 1_000_000} MB long`;
    const message = `Over GraphQL an export ${what}, and this one is longer: get it from ${this.#path}.`;
    throw new ServiceError('VALIDATION_FAILED', message, { issues: [{ path: [], message }] });
  }
}

/** Builds an export while it holds one of the developer's export slots. */
async function whole(ctx: ServiceContext, path: string, make: () => Promise<object>): Promise<object> {
  const release = ctx.env.exportSlots.take(requireAuthenticated(ctx.actor).developerId);
  try {
    return await new WholeExport(path).read(await make());
  } finally {
    release();
  }
}

builder.queryFields((t) => ({
  accountExport: t.field({
    ...rateLimited('accountSensitive'),
    type: 'JSONObject',
    nullable: true,
    description:
      'All data of your account: developer, applications, policies, licenses without their keys, with their devices, end users, bans, API keys, sessions, webhooks without their secrets, and the newest 10,000 log entries, in the format of REST. At most 20,000 rows of each kind and 32 MB. The export is recorded in the log. Null comes with an UNAUTHENTICATED, CONFIRMATION_REQUIRED, VALIDATION_FAILED or TOO_MANY_EXPORTS error.',
    complexity,
    resolve: (_parent, _args, { service }) =>
      whole(service, 'GET /api/v1/account/export', async () => {
        const { apiKeys, ...rest } = await exportAccount({ ctx: service });
        // The interface spells this one field with underscores, and exports are the same in REST and GraphQL.
        const listed = mapPages(apiKeys, ({ lastUsedAt, ...key }) => ({ ...key, last_used_at: lastUsedAt }));
        return { ...rest, apiKeys: listed };
      }),
  }),
  endUserExport: t.field({
    type: 'JSONObject',
    nullable: true,
    description:
      "All data of an application's end users: accounts, licenses with their devices, sessions, bans, and the newest 10,000 log entries, in the format of REST. At most 20,000 rows of each kind and 32 MB. Null comes with an APP_NOT_FOUND, CONFIRMATION_REQUIRED, VALIDATION_FAILED or TOO_MANY_EXPORTS error.",
    args: { applicationId: t.arg.id({ required: true, description: 'The id of the application.' }) },
    complexity,
    resolve: (_parent, { applicationId }, { service }) =>
      whole(service, `GET /api/v1/apps/${applicationId}/users/export`, () =>
        exportEndUsers({ ctx: service, input: { applicationId } }),
      ),
  }),
}));
