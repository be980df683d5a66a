import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { strictObject } from '../fields.ts';
import { type BulkOutcome, changeMany, previewMany } from '../license/bulk.ts';
import {
  type ManyChanges,
  readBefore,
  type SkipCode,
  type SliceChange,
} from '../license/change-in-slices.ts';
import { endsEarlier } from '../license/decide.ts';
import { readMetadata } from '../license/entitlements.ts';
import type { LockedLicense } from '../license/lock.ts';
import { charactersOf, requireStorable } from '../license/mint-terms.ts';
import { selectionShape, selectLicenses } from '../license/select-licenses.ts';
import { storedMetadata } from '../license/terms.ts';
import { movesOf } from '../license/view.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { findOwnPolicy } from './get.ts';
import type { PolicyReference } from './lock.ts';
import type { PolicyView } from './view.ts';

export const applyPolicyInput = strictObject({
  /** By default the licenses that the policy created, or was applied to last. */
  ...selectionShape,
  /** Whether to tell what would be changed, and change nothing. */
  dryRun: z.boolean().default(false),
});

const onlyOneSelection = applyPolicyInput.refine(
  ({ ids, filter }) => ids === undefined || filter === undefined,
  { path: ['ids'], message: 'and filter must not both be given' },
);

/**
 * Copies the values that a policy has now to existing licenses; those that have them already are skipped. A term that has
 * started stays as it is. A dry run changes nothing. A request that is repeated with its Idempotency-Key goes on with the
 * values that the policy had at first.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND, TOO_MANY, RATE_LIMITED,
 *   SEARCH_TOO_BROAD, TOO_MANY_READS, and UNAVAILABLE if nothing was changed
 */
export async function applyPolicy({
  ctx,
  input: { applicationId, policyId, ...given },
}: Call<PolicyReference & z.input<typeof applyPolicyInput>>): Promise<BulkOutcome> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { dryRun, ids, filter = { policyId } } = parseInput(onlyOneSelection, given);
  const ownId = await requireOwnApplication(ctx, applicationId, 'licenses:write');
  // A repeated request goes on with the values of the first one, also if the policy was changed or deleted since.
  const before = dryRun ? null : await readBefore<PolicyView>(ctx);
  const policy =
    before?.basis ?? (await findOwnPolicy(ctx, { applicationId: ownId, policyId }, 'licenses:write'));
  const selected = await selectLicenses(
    ctx,
    ownId,
    ids === undefined ? { filter } : { ids },
    before?.selected ?? null,
  );
  const text = { ...policy, tags: [] };
  requireStorable(text, selected.ids.length, 'ids');
  const selection = { ...selected, charactersEach: charactersOf(text) };
  const changes: ManyChanges<PolicyView> = {
    basis: policy,
    judge: (license, _now, basis = policy) => changeBy(basis, license),
  };
  return dryRun ? previewMany(ctx, selection, changes) : changeMany(ctx, developerId, selection, changes);
}

/** The members of a policy that are copied to a license. */
const termsOf = (policy: PolicyView, hasStarted: boolean) => ({
  policyId: policy.id,
  ...(!hasStarted && { durationSeconds: policy.durationSeconds }),
  subscriptionTier: policy.subscriptionTier,
  deviceLimit: policy.deviceLimit,
  selfService: policy.selfService,
  moves: policy.moves,
  cooldownSeconds: policy.cooldownSeconds,
  releaseIdleAfterSeconds: policy.releaseIdleAfterSeconds,
  graceSeconds: policy.graceSeconds,
  leaseSeconds: policy.leaseSeconds,
  entitlements: policy.entitlements,
  metadata: policy.metadata,
});

function changeBy(policy: PolicyView, license: LockedLicense): SliceChange | SkipCode {
  const wanted = termsOf(policy, license.activatedAt !== null);
  const present: Readonly<Record<keyof typeof wanted, unknown>> = {
    ...license,
    moves: movesOf(license),
    metadata: readMetadata(license.metadata),
  };
  const changed = Object.entries(wanted).flatMap(([name, value]) =>
    isDeepStrictEqual(value, Reflect.get(present, name)) ? [] : [name],
  );
  if (changed.length === 0) return 'UNCHANGED';
  const { moves, metadata, ...columns } = wanted;
  return {
    data: {
      ...columns,
      moveCount: moves?.count ?? null,
      movePeriodSeconds: moves?.periodSeconds ?? null,
      metadata: storedMetadata(metadata),
    },
    event: 'policy_applied',
    metadata: { policyId: policy.id, code: policy.code, changed },
    revokesLeases: endsEarlier(license, { graceSeconds: policy.graceSeconds }),
  };
}
