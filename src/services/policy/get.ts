import { isId } from '../../lib/ids.ts';
import type { Call, ServiceContext } from '../context.ts';
import { policyNotFound } from '../errors.ts';
import { requireOwnApplication } from '../own-application.ts';
import type { Scope } from '../scopes.ts';
import type { PolicyReference } from './lock.ts';
import { type PolicyView, policySelect, policyView } from './view.ts';

/**
 * Returns a policy of one of the developer's applications.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND
 */
export const getPolicy = ({ ctx, input }: Call<PolicyReference>): Promise<PolicyView> =>
  findOwnPolicy(ctx, input, 'licenses:read');

/**
 * The same for a verb that needs another scope.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND
 */
export async function findOwnPolicy(
  ctx: ServiceContext,
  { policyId, ...input }: PolicyReference,
  scope: Scope,
): Promise<PolicyView> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId, scope);
  if (!isId(policyId)) throw policyNotFound();
  const where = { id: policyId, applicationId };
  const row = await ctx.env.database.prisma.policy.findUnique({ where, select: policySelect });
  if (row === null) throw policyNotFound();
  return policyView(row);
}
