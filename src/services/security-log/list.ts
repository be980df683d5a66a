import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { logOfApplications } from './lists.ts';
import type { SecurityLogView } from './view.ts';

/**
 * A page of an application's security log, newest first. Validations of the last quarter second may not be in it yet.
 * `q` finds entries by a substring of event, code, address, country or HWID.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listSecurityLog({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput }>): Promise<Page<SecurityLogView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  return readPage(ctx, logOfApplications, applicationId, input.page, (row: SecurityLogView) => row);
}
