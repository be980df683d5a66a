import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Page, PageInput } from '../page.ts';
import { readPage } from '../read-page.ts';
import { policiesOfApplications } from './lists.ts';
import { type PolicyView, policyView } from './view.ts';

/**
 * Returns a page of an application's policies, newest first. `q` matches substrings of code and name.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function listPolicies({
  ctx,
  input,
}: Call<{ applicationId: string; page: PageInput }>): Promise<Page<PolicyView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:read');
  return readPage(ctx, policiesOfApplications, applicationId, input.page, { q: input.page.q }, policyView);
}
