import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { type SeenLicense, withLastSeen } from './last-seen.ts';
import { type LicenseFilter, licensesOfApplications } from './lists.ts';
import { type LicenseRow, licenseView } from './view.ts';

/**
 * Returns a page of the licenses of an application that match the filter, newest first. `q` matches substrings of key
 * prefix, note, HWID and last IP address, or a complete key.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function listLicenses({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput; filter?: Omit<LicenseFilter, 'q'> }>): Promise<
  Page<SeenLicense>
> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:read');
  const view = (row: LicenseRow) => licenseView(row, new Date(ctx.env.clock.now()));
  const { q, ...page } = input.page;
  const { items, nextCursor } = await readPage(
    ctx,
    licensesOfApplications,
    applicationId,
    page,
    { ...input.filter, q },
    view,
  );
  return { items: await withLastSeen(ctx, items), nextCursor };
}
