import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { apiKeysOfDevelopers } from './lists.ts';
import { type ApiKeyRow, type ApiKeyView, apiKeyView } from './view.ts';

/**
 * The API keys of the developer who asks, newest first, revoked ones too: all of them, as far as that is one answer.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listApiKeys({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: ListInput;
}): Promise<Page<ApiKeyView>> {
  const developerId = requireDeveloper(ctx.actor);
  return readList<ApiKeyRow, ApiKeyView>(ctx, apiKeysOfDevelopers, developerId, input, apiKeyView);
}
