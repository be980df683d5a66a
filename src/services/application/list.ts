import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { applicationsOfDevelopers } from './lists.ts';
import { type ApplicationRow, type ApplicationView, applicationView } from './view.ts';

/**
 * The applications of the developer who asks, newest first: all of them, as far as that is one answer.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listApplications({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: ListInput;
}): Promise<Page<ApplicationView>> {
  const developerId = requireDeveloper(ctx.actor);
  return readList<ApplicationRow, ApplicationView>(
    ctx,
    applicationsOfDevelopers,
    developerId,
    input,
    applicationView,
  );
}
