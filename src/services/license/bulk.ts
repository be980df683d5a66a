import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { strictObject } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { bulkActions, bulkChanges } from './bulk-actions.ts';
import {
  changeInSlices,
  type LicenseResult,
  type ManyChanges,
  previewInSlices,
  type SkipCode,
  selectedBefore,
} from './change-in-slices.ts';
import type { Selection } from './read-slice.ts';
import { hasOneSelection, selectionShape, selectLicenses } from './select-licenses.ts';
import { takeRows } from './take-rows.ts';

const bulkLicensesInput = strictObject({
  action: z.enum(bulkActions),
  ...selectionShape,
  params: z.unknown().optional(),
  /** Whether to tell what would be changed, and change nothing. */
  dryRun: z.boolean().default(false),
}).refine(hasOneSelection, { path: ['ids'], message: 'exactly one of ids and filter must be given' });

/** The number of licenses that a preview shows. */
export const sampleSize = 20;

/** What a change of many licenses did, or would do. */
export interface BulkOutcome {
  readonly dryRun: boolean;
  /** The number of selected licenses that the application has. */
  readonly matched: number;
  readonly changed: number;
  /** The number of selected ids that were not changed, and the same by code. */
  readonly skipped: number;
  readonly skippedByCode: Readonly<Partial<Record<SkipCode, number>>>;
  /** Of each selected license: by id in the order of the input, or newest first. */
  readonly results: readonly LicenseResult[];
}

/**
 * Changes many licenses of an application, each as the single verb would; those that it would refuse are skipped. A dry run
 * changes nothing.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, APP_NOT_FOUND, TOO_MANY, RATE_LIMITED, SEARCH_TOO_BROAD,
 *   TOO_MANY_READS, and UNAVAILABLE if nothing was changed
 */
export async function bulkLicenses({
  ctx,
  input: { applicationId: named, ...given },
}: Call<
  { applicationId: string } & Omit<z.input<typeof bulkLicensesInput>, 'params'> & { params?: unknown }
>): Promise<BulkOutcome> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { action, params = {}, dryRun, ...selected } = parseInput(bulkLicensesInput, given);
  const changes = bulkChanges(action, params);
  if (action === 'delete' && !dryRun) await requireConfirmation(ctx);
  const applicationId = await requireOwnApplication(ctx, named, 'licenses:write');
  const before = dryRun ? null : await selectedBefore(ctx);
  const selection = await selectLicenses(ctx, applicationId, selected, before);
  return dryRun ? previewMany(ctx, selection, changes) : changeMany(ctx, developerId, selection, changes);
}

/**
 * Changes the licenses of a selection, and takes as many points of the developer's limit.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, RATE_LIMITED; APP_NOT_FOUND or UNAVAILABLE if nothing was
 *   changed
 */
export async function changeMany<Basis>(
  ctx: ServiceContext,
  developerId: string,
  selection: Selection,
  changes: ManyChanges<Basis>,
): Promise<BulkOutcome> {
  if (!selection.isContinued && selection.ids.length > 0) {
    await takeRows(ctx, developerId, selection.ids.length, 'change');
  }
  const results = await changeInSlices(ctx, developerId, selection, changes);
  return { dryRun: false, ...countsOf(results), results };
}

/**
 * Tells what `changeMany` would do.
 * @throws {ServiceError} TOO_MANY_READS, UNAVAILABLE
 */
export async function previewMany<Basis>(
  ctx: ServiceContext,
  selection: Selection,
  changes: ManyChanges<Basis>,
): Promise<BulkOutcome> {
  const results = await previewInSlices(ctx, selection, changes);
  return { dryRun: true, ...countsOf(results), results };
}

function countsOf(
  results: readonly LicenseResult[],
): Pick<BulkOutcome, 'matched' | 'changed' | 'skipped' | 'skippedByCode'> {
  const skippedByCode: Partial<Record<SkipCode, number>> = {};
  for (const { code } of results)
    if (code !== undefined) skippedByCode[code] = (skippedByCode[code] ?? 0) + 1;
  const changed = results.filter(({ outcome }) => outcome === 'changed').length;
  return {
    matched: results.length - (skippedByCode.LICENSE_NOT_FOUND ?? 0),
    changed,
    skipped: results.length - changed,
    skippedByCode,
  };
}
