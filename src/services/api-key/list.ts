import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { apiKeysOfDevelopers } from './lists.ts';
import { type ApiKeyView, apiKeyView } from './view.ts';

/**
 * Lists the caller's API keys, including revoked ones, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function listApiKeys({ ctx, input }: Call<ListInput>): Promise<Page<ApiKeyView>> {
  const developerId = requireDeveloper(ctx.actor, 'account:read');
  return readList(ctx, apiKeysOfDevelopers, developerId, input, apiKeyView);
}
