import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { applicationsOfDevelopers } from './lists.ts';
import { type ApplicationView, applicationView } from './view.ts';

/**
 * Lists the caller's applications, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function listApplications({ ctx, input }: Call<ListInput>): Promise<Page<ApplicationView>> {
  const developerId = requireDeveloper(ctx.actor, 'applications:read');
  return readList(ctx, applicationsOfDevelopers, developerId, input, applicationView);
}
