import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { logOfApplications } from './lists.ts';
import { type SecurityLogView, securityLogView } from './view.ts';

/**
 * Returns a page of an application's security log, newest first. Validations of the last quarter second may be missing.
 * `q` matches substrings of event, code, IP address, country and HWID.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function listSecurityLog({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput }>): Promise<Page<SecurityLogView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'logs:read');
  const { q, ...page } = input.page;
  return readPage(ctx, logOfApplications, applicationId, page, { q }, securityLogView);
}
