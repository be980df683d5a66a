import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { licensesOfApplications } from './lists.ts';
import { type LicenseRow, type LicenseView, licenseView } from './view.ts';

/**
 * Returns a page of an application's licenses, newest first. `q` matches substrings of key prefix, note, HWID and last IP
 * address, or a complete key.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listLicenses({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput }>): Promise<Page<LicenseView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const view = (row: LicenseRow) => licenseView(row, new Date(ctx.env.clock.now()));
  return readPage(ctx, licensesOfApplications, applicationId, input.page, view);
}
