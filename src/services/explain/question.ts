import { z } from 'zod';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { ipAddress, strictObject, text } from '../fields.ts';
import { findOwnRows } from '../find-own-rows.ts';
import type { ActorKind } from '../security-log/actor.ts';
import { securityLogTable } from '../security-log/lists.ts';

const version = text({ min: 1, max: 64 });
const hwid = text({ min: 1, max: 256 });

export const explainLicenseInput = strictObject({
  applicationId: z.string().optional(),
  licenseKey: text({ min: 1, max: 256 }).optional(),
  licenseId: z.string().optional(),
  hwid: hwid.optional(),
  ip: ipAddress.optional(),
  version: version.optional(),
  /** The version of the client protocol. */
  protocol: z
    .number()
    .pipe(z.literal([1, 2], 'must be 1 or 2'))
    .optional(),
  /** When the client asks; now by default. */
  at: z.iso
    .datetime({ offset: true })
    .transform((instant) => new Date(instant))
    .optional(),
  /** An entry of the log: the device, the client's address and the version in it are asked about, unless others are given. */
  logEntryId: z.string().optional(),
});

/** What a client would ask. Null: not said. */
export interface Question {
  readonly applicationId: string;
  readonly license: { readonly licenseKey: string } | { readonly licenseId: string };
  readonly hwid: string | null;
  readonly ip: string | null;
  readonly version: string | null;
  readonly protocol: 1 | 2 | null;
  readonly at: Date;
  /** Whether a log entry has filled in some of it. */
  readonly isFromLog: boolean;
}

/**
 * Completes a question with what a log entry knows.
 * @throws {ServiceError} VALIDATION_FAILED if the application or the license is not named, or the license twice;
 *   LOG_ENTRY_NOT_FOUND
 */
export async function completeQuestion(
  ctx: ServiceContext,
  input: z.output<typeof explainLicenseInput>,
): Promise<Question> {
  const entry = input.logEntryId === undefined ? null : await findEntry(ctx, input.logEntryId);
  const applicationId = input.applicationId ?? entry?.applicationId ?? null;
  if (applicationId === null)
    throw ServiceError.invalidMember('applicationId', 'is required, unless a log entry names it');
  return {
    applicationId,
    license: licenseOf(input, entry),
    hwid: input.hwid ?? entry?.hwid ?? null,
    ip: input.ip ?? entry?.clientIp ?? null,
    version: input.version ?? entry?.version ?? null,
    protocol: input.protocol ?? entry?.protocol ?? null,
    at: input.at ?? new Date(ctx.env.clock.now()),
    isFromLog: entry !== null,
  };
}

function licenseOf(
  { licenseKey, licenseId }: z.output<typeof explainLicenseInput>,
  entry: Entry | null,
): Question['license'] {
  if (licenseKey !== undefined && licenseId !== undefined) {
    throw ServiceError.invalidMember('licenseId', 'must not be given together with licenseKey');
  }
  if (licenseKey !== undefined) return { licenseKey };
  const known = licenseId ?? entry?.licenseId ?? null;
  if (known !== null) return { licenseId: known };
  throw ServiceError.invalidMember(
    'licenseKey',
    'or licenseId is required, unless a log entry names the license',
  );
}

interface Entry {
  readonly applicationId: string | null;
  readonly licenseId: string | null;
  readonly hwid: string | null;
  /** Null also if it is that of a developer, whose address says nothing about the client's. */
  readonly clientIp: string | null;
  readonly version: string | null;
  readonly protocol: 1 | 2 | null;
}

interface EntryRow extends Omit<Entry, 'clientIp' | 'version' | 'protocol'> {
  readonly id: string;
  readonly ip: string | null;
  /** Null in entries from before it was noted. */
  readonly actorKind: ActorKind | null;
  readonly metadata: unknown;
}

/** What an entry with APP_OUTDATED has. */
const logged = z.object({ clientVersion: version, protocol: z.literal([1, 2]).optional() });

async function findEntry(ctx: ServiceContext, entryId: string): Promise<Entry> {
  const columns = ['applicationId', 'licenseId', 'hwid', 'ip', 'actorKind', 'metadata'];
  const rows = await findOwnRows<EntryRow>({ ctx, table: securityLogTable, ids: [entryId], columns });
  const row = rows.get(entryId);
  if (row === undefined) throw new ServiceError('LOG_ENTRY_NOT_FOUND', 'There is no such log entry.');
  const { data } = logged.safeParse(row.metadata);
  const { ip, actorKind } = row;
  const clientIp = actorKind === null || actorKind === 'client' ? ip : null;
  return { ...row, clientIp, version: data?.clientVersion ?? null, protocol: data?.protocol ?? null };
}
