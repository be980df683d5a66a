import type { Keyring } from '../../crypto/keyring.ts';
import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import type { DeviceRequest } from '../../protocol/v2/device-request.ts';
import { loadApplicationSnapshot } from '../application/snapshot.ts';
import type { Change } from '../changes/change.ts';
import { collectInvalidations } from '../changes/invalidations.ts';
import { recordChanges } from '../changes/record.ts';
import { trackEntries } from '../changes/recorded-entries.ts';
import type { Call, RecordingContext } from '../context.ts';
import { applicationNotFound, licenseNotFound, ServiceError } from '../errors.ts';
import { lockApplication } from '../transaction.ts';
import { signLease } from './claims.ts';
import type { IssuedOfflineLease } from './issue-offline.ts';
import { recordOfflineLease } from './record-offline.ts';

interface Input {
  readonly keyring: Keyring;
  /** The id of a license, or the first characters of its key: those that lists show. */
  readonly license: string;
  readonly request: DeviceRequest;
  /** Default: the application's setting. */
  readonly days?: number;
}

/**
 * Issues an offline lease for an operator, who needs no account. The rules and the log entry are those of
 * `issueOfflineLease`. The application is that of the device request.
 * @throws {ServiceError} APP_NOT_FOUND, LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, EXPIRED, HWID_MISMATCH, HWID_BANNED;
 *   VALIDATION_FAILED if several licenses begin like this
 * @throws {PrivateKeyUnreadableError}
 */
export async function issueLeaseAsOperator({
  ctx,
  input: { keyring, license, request, days },
}: Call<Input, RecordingContext>): Promise<IssuedOfflineLease> {
  const { pool, prisma } = ctx.env.database;
  const application = await loadApplicationSnapshot(pool, keyring, request.appId);
  if (application === null) throw applicationNotFound();
  const { terms, recorded } = await prisma.$transaction(async (transaction) => {
    // The service follows the log by what its instances announce; it sees this entry a second later.
    trackEntries(transaction, { note: () => undefined, noteEvents: () => undefined });
    if (!(await lockApplication(transaction, application.id))) throw applicationNotFound();
    const licenseId = await findLicense(transaction, application.id, license);
    const { changes, invalidations } = collectInvalidations();
    const issue = { application, licenseId, request, days };
    const issued = await recordOfflineLease(ctx, transaction, invalidations, issue);
    const logged: Change = { cache: 'log', keys: [application.id, application.developerId] };
    if (ctx.env.database.kind === 'server') await recordChanges(transaction, [...changes, logged]);
    return issued;
  });
  const { expiresAt } = terms;
  return { lease: await signLease(terms, recorded), expiresAt, licenseId: terms.license.id };
}

async function findLicense(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  text: string,
): Promise<string> {
  if (isId(text)) {
    const found = await transaction.license.findUnique({
      where: { id: text },
      select: { applicationId: true },
    });
    if (found === null) throw licenseNotFound();
    if (found.applicationId === applicationId) return text;
    throw new ServiceError(
      'APP_MISMATCH',
      'This license belongs to another application than the device request.',
    );
  }
  const found = await transaction.license.findMany({
    where: { applicationId, keyPrefix: text },
    select: { id: true },
    orderBy: { id: 'asc' },
    take: 5,
  });
  const [only, ...others] = found;
  if (only === undefined) throw licenseNotFound();
  if (others.length === 0) return only.id;
  const ids = found.map(({ id }) => id).join(', ');
  throw new ServiceError(
    'VALIDATION_FAILED',
    `Several keys begin with ${text}: name the license by its id (${ids}).`,
  );
}
