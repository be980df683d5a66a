import { present } from '../../../api/present.ts';
import { sendChange } from '../../../api/send-change.ts';
import { graphql } from '../../../generated/gql.ts';
import type { BulkFilter, LicensesBulkMutation } from '../../../generated/graphql.ts';
import type { BulkOrder } from './acts.ts';

const LicensesBulk = graphql(`
  mutation LicensesBulk($input: BulkLicensesInput!) {
    bulkLicenses(input: $input) {
      matched
      changed
      skipped
      skippedByCode {
        code
        count
      }
      results {
        id
        keyPrefix
        outcome
        code
      }
    }
  }
`);

const LicensesApplyPolicy = graphql(`
  mutation LicensesApplyPolicy($input: ApplyPolicyInput!) {
    applyPolicy(input: $input) {
      matched
      changed
      skipped
      skippedByCode {
        code
        count
      }
      results {
        id
        keyPrefix
        outcome
        code
      }
    }
  }
`);

export type BulkOutcome = NonNullable<LicensesBulkMutation['bulkLicenses']>;

/** The licenses to change: these, or those that match. */
export type BulkTarget = { readonly ids: readonly string[] } | { readonly filter: BulkFilter };

interface BulkRequest {
  readonly applicationId: string;
  readonly order: BulkOrder;
  readonly target: BulkTarget;
  readonly dryRun: boolean;
}

/**
 * Changes many licenses, or tells what that would do.
 * @param runId goes on with an earlier run: what was changed is not changed again
 * @throws {ApiError}
 */
export async function sendBulk(
  { applicationId, order, target, dryRun }: BulkRequest,
  runId?: string,
): Promise<BulkOutcome> {
  const selected = 'ids' in target ? { ids: [...target.ids] } : { filter: target.filter };
  const common = { applicationId, dryRun, ...selected };
  if (order.action === 'policy') {
    const input = { ...common, policyId: order.policyId };
    return present((await sendChange(LicensesApplyPolicy, { input }, runId)).applyPolicy);
  }
  const input = { ...common, action: order.action, ...(order.params && { params: order.params }) };
  return present((await sendChange(LicensesBulk, { input }, runId)).bulkLicenses);
}
