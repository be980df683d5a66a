import type { Prisma } from '../../db/client.ts';
import { isId } from '../../lib/ids.ts';
import { policyNotFound } from '../errors.ts';
import { type PolicyRow, policySelect } from './view.ts';

/** A policy, by its application and its own id. */
export interface PolicyReference {
  readonly applicationId: string;
  readonly policyId: string;
}

/**
 * Reads and locks a policy until the transaction ends. The caller has checked and locked the application.
 * @throws {ServiceError} POLICY_NOT_FOUND
 */
export async function lockPolicy(
  transaction: Prisma.TransactionClient,
  { applicationId, policyId }: PolicyReference,
): Promise<PolicyRow> {
  if (!isId(policyId)) throw policyNotFound();
  await transaction.$queryRaw`
    SELECT FROM policies WHERE id = ${policyId}::uuid AND application_id = ${applicationId}::uuid FOR UPDATE`;
  // A statement of its own: it sees what was committed while the lock was waited for.
  const policy = await transaction.policy.findUnique({
    where: { id: policyId, applicationId },
    select: policySelect,
  });
  if (policy === null) throw policyNotFound();
  return policy;
}
