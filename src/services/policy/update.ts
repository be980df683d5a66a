import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { columnsOfTerms } from '../license/terms.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { orCodeTaken } from './code-taken.ts';
import { policyChangeNotEmpty, updatePolicyInput } from './fields.ts';
import { lockPolicy, type PolicyReference } from './lock.ts';
import { type PolicyView, policySelect, policyView } from './view.ts';

const changeInput = updatePolicyInput.refine(
  policyChangeNotEmpty,
  'must have at least one member of a policy',
);

/**
 * Changes the members of a policy that were sent. Entitlements and metadata are replaced as a whole. Licenses stay as they
 * are until the policy is applied.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND, POLICY_CODE_TAKEN
 */
export async function updatePolicy({
  ctx,
  input,
}: Call<PolicyReference & { readonly change: z.input<typeof updatePolicyInput> }>): Promise<PolicyView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const change = parseInput(changeInput, input.change);
  const applicationId = await requireOwnApplication(ctx, input.applicationId, 'licenses:write');
  const update = developerTransaction(ctx, developerId, async (transaction) => {
    if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
    const { id } = await lockPolicy(transaction, { ...input, applicationId });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId,
      event: 'policy_changed',
      metadata: { policyId: id, fields: Object.keys(change) },
    });
    return transaction.policy.update({ where: { id }, data: columnsOfTerms(change), select: policySelect });
  });
  return policyView(await orCodeTaken(update));
}
