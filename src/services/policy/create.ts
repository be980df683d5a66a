import type { z } from 'zod';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { columnsOfTerms } from '../license/terms.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { lockApplicationForCount, requireRoom } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { orCodeTaken } from './code-taken.ts';
import { createPolicyInput } from './fields.ts';
import { type PolicyView, policySelect, policyView } from './view.ts';

/**
 * Creates a policy: values for new licenses of an application.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_CODE_TAKEN, LIMIT_REACHED
 */
export async function createPolicy({
  ctx,
  input,
}: Call<{ applicationId: string; policy: z.input<typeof createPolicyInput> }>): Promise<PolicyView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const policy = parseInput(createPolicyInput, input.policy);
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:write');
  const creation = developerTransaction(ctx, developerId, async (transaction) => {
    if (!(await lockApplicationForCount(transaction, applicationId))) throw applicationNotFound();
    await requireRoom(ctx, transaction, 'policies', { ownerId: applicationId, more: 1 });
    const created = await transaction.policy.create({
      data: { id: newId(), applicationId, ...columnsOfTerms(policy) },
      select: policySelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      event: 'policy_created',
      metadata: { policyId: created.id, code: created.code },
    });
    return created;
  });
  return policyView(await orCodeTaken(creation));
}
