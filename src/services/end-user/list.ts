import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { usersOfApplications } from './lists.ts';
import { type EndUserView, endUserView } from './view.ts';

/**
 * Returns a page of an application's end users, newest first. `q` matches substrings of username, email, last IP address
 * and last HWID.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function listEndUsers({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput }>): Promise<Page<EndUserView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'users:read');
  const { q, ...page } = input.page;
  return readPage(ctx, usersOfApplications, applicationId, page, { q }, endUserView);
}
