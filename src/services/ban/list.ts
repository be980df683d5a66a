import type { Call } from '../context.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { bansOfApplications } from './lists.ts';
import type { BanView } from './view.ts';

/**
 * Lists the bans of an application, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listBans({
  ctx,
  input,
}: Call<{ applicationId: string; list: ListInput }>): Promise<Page<BanView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  return readList<BanView, BanView>(
    ctx,
    bansOfApplications,
    applicationId,
    input.list,
    ({ id, banType, value, sourceLicenseId, createdAt }) => ({
      id,
      banType,
      value,
      sourceLicenseId,
      createdAt,
    }),
  );
}
