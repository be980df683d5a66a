import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { bansOfApplications } from './lists.ts';
import { type BanView, banView } from './view.ts';

/**
 * Lists the bans of an application, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function listBans({
  ctx,
  input,
}: Call<{ applicationId: string; list: ListInput }>): Promise<Page<BanView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:read');
  return readList(ctx, bansOfApplications, applicationId, input.list, banView);
}
