import type { Call } from '../context.ts';
import { licenseNotFound } from '../errors.ts';
import { findOwnRows } from '../find-own-rows.ts';
import { readLastSeen, type SeenLicense } from './last-seen.ts';
import { licenseTable } from './lists.ts';
import { type LicenseRow, licenseView } from './view.ts';

/**
 * Returns one of the developer's licenses. Other developers' licenses count as not found.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, TOO_MANY_READS
 */
export async function getLicense({ ctx, input: { id } }: Call<{ id: string }>): Promise<SeenLicense> {
  const columns = Object.keys(licenseTable.columns);
  const rows = await findOwnRows<LicenseRow>({ ctx, table: licenseTable, ids: [id], columns });
  const row = rows.get(id);
  if (row === undefined) throw licenseNotFound();
  const seen = await readLastSeen(ctx, [id]);
  const license = licenseView(row, new Date(ctx.env.clock.now()));
  return { ...license, lastSeenAt: seen.get(id) ?? null };
}
