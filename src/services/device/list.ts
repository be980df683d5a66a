import { requireDeveloper } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { licenseNotFound } from '../errors.ts';
import { findOwnRows } from '../find-own-rows.ts';
import { licenseTable } from '../license/lists.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { type DeviceFilter, devicesOfLicenses } from './lists.ts';
import { type DeviceView, deviceView } from './view.ts';

interface ListDevicesInput {
  readonly licenseId: string;
  readonly page: Pick<PageInput, 'limit' | 'cursor'>;
  readonly filter: DeviceFilter;
}

/**
 * Returns a page of a license's devices, newest first: those that are bound, and the newest released ones.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, TOO_MANY_READS
 */
export async function listDevices({
  ctx,
  input: { licenseId, page, filter },
}: Call<ListDevicesInput>): Promise<Page<DeviceView>> {
  await requireOwnLicense(ctx, licenseId);
  return readPage(ctx, devicesOfLicenses, licenseId, page, filter, deviceView);
}

/** @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND */
async function requireOwnLicense(ctx: ServiceContext, id: string): Promise<void> {
  requireDeveloper(ctx.actor, 'licenses:read');
  const found = await findOwnRows({ ctx, table: licenseTable, ids: [id], columns: [] });
  if (!found.has(id)) throw licenseNotFound();
}
