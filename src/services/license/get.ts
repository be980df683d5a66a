import type { Call } from '../context.ts';
import { licenseNotFound } from '../errors.ts';
import { findOwnRows } from '../find-own-rows.ts';
import { licenseTable } from './lists.ts';
import { type LicenseRow, type LicenseView, licenseView } from './view.ts';

/**
 * Returns one of the developer's licenses. Other developers' licenses count as not found.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, TOO_MANY_READS
 */
export async function getLicense({ ctx, input: { id } }: Call<{ id: string }>): Promise<LicenseView> {
  const columns = Object.keys(licenseTable.columns);
  const rows = await findOwnRows<LicenseRow>({ ctx, table: licenseTable, ids: [id], columns });
  const row = rows.get(id);
  if (row === undefined) throw licenseNotFound();
  return licenseView(row, new Date(ctx.env.clock.now()));
}
