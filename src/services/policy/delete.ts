import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { requireOwnApplication } from '../own-application.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { lockPolicy, type PolicyReference } from './lock.ts';

/**
 * Deletes a policy. Its licenses stay as they are: they have copies of its values, and keep its id.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND
 */
export async function deletePolicy({ ctx, input }: Call<PolicyReference>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:write');
  await developerTransaction(ctx, developerId, async (transaction) => {
    if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
    const { id, code } = await lockPolicy(transaction, { ...input, applicationId });
    await transaction.policy.delete({ where: { id }, select: { id: true } });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      event: 'policy_deleted',
      metadata: { policyId: id, code },
    });
  });
}
