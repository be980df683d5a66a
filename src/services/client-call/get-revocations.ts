import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import type { RevocationList } from '../revocation/list.ts';

/**
 * The signed list of an application's revoked leases.
 * @throws {ServiceError} APP_NOT_FOUND
 */
export async function getRevocations({
  ctx,
  input,
}: Call<{ readonly appId: string }>): Promise<RevocationList> {
  const list = await ctx.env.caches.revocations(input.appId);
  if (list === null) throw applicationNotFound();
  ctx.notes.applicationId = input.appId;
  return list;
}
