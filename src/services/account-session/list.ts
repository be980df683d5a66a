import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { sessionsOfDevelopers } from './lists.ts';
import { type AccountSessionView, accountSessionView } from './view.ts';

/**
 * Lists the caller's sessions of the dashboard, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listAccountSessions({
  ctx,
  input,
}: Call<ListInput>): Promise<Page<AccountSessionView>> {
  const developerId = requireDeveloper(ctx.actor, 'account:read');
  return readList(ctx, sessionsOfDevelopers, developerId, input, accountSessionView(ctx.actor));
}
