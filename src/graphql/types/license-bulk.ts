import { type BulkOutcome, bulkLicenses, sampleSize } from '../../services/license/bulk.ts';
import type { BulkAction as Action } from '../../services/license/bulk-actions.ts';
import type { LicenseResult } from '../../services/license/change-in-slices.ts';
import { maxSelected } from '../../services/license/select-licenses.ts';
import { builder } from '../builder.ts';
import { withInput, withoutNulls } from '../input.ts';
import { licenseConditions } from './license.ts';

const BulkAction = builder.enumType('BulkAction', {
  description: 'What a bulk change does to each license.',
  values: {
    suspend: { description: 'Suspends it.' },
    reinstate: { description: 'Ends its suspension.' },
    ban: { description: 'Bans it, without its devices and addresses.' },
    unban: { description: 'Lifts its ban, without those of devices and addresses.' },
    extend: { description: 'Extends its term, which must have started and not ended.' },
    renew: { description: 'Gives it a new expiry.' },
    setTier: { description: 'Sets its tier.' },
    addTags: { description: 'Adds tags.' },
    removeTags: { description: 'Removes tags.' },
    delete: { description: 'Deletes it permanently.' },
  } as const satisfies Record<Action, { description: string }>,
});

const RenewBasis = builder.enumType('RenewBasis', {
  description: 'Where the seconds of a renewal begin.',
  values: {
    from_expiry: { description: 'At the expiry.' },
    from_now: { description: 'Now.' },
    from_now_if_expired: { description: 'Now if the license has expired, otherwise at the expiry.' },
  } as const,
});

export const BulkFilter = builder.inputType('BulkFilter', {
  description: 'Selects licenses. All given conditions must hold; without one, all licenses are selected.',
  fields: (t) => ({
    ...licenseConditions(t),
    q: t.string({
      description: 'Case-insensitive substring of key prefix, note, HWID or IP address; or a whole key.',
    }),
  }),
});

const BulkParams = builder.inputType('BulkParams', {
  description: 'The parameters of a bulk change. Each action refuses those of others.',
  fields: (t) => ({
    reason: t.string({ description: 'Of suspend: why, for yourself; at most 200 characters.' }),
    stopClock: t.boolean({
      description: 'Of suspend: whether the remaining term is kept; false by default.',
    }),
    seconds: t.int({ description: 'Of extend and renew: by how many seconds.' }),
    basis: t.field({ type: RenewBasis, description: 'Of renew: where the seconds begin.' }),
    subscriptionTier: t.int({ description: 'Of setTier: the tier, from 0.' }),
    tags: t.stringList({ description: 'Of addTags and removeTags: the tags; at most 20.' }),
  }),
});

const BulkLicensesInput = builder.inputType('BulkLicensesInput', {
  description: 'A change of many licenses: of those with these ids, or of those that match the filter.',
  fields: (t) => ({
    applicationId: t.id({ required: true, description: 'The id of the application.' }),
    action: t.field({ type: BulkAction, required: true, description: 'What to do to each license.' }),
    ids: t.idList({
      description: `The ids of the licenses: 1 to ${maxSelected.toLocaleString('en-US')}. Not with filter.`,
    }),
    filter: t.field({ type: BulkFilter, description: 'Selects the licenses. Not with ids.' }),
    params: t.field({ type: BulkParams, description: 'The parameters of the action.' }),
    dryRun: t.boolean({ description: 'Whether to change nothing and tell what would be changed.' }),
  }),
});

const SkippedCount = builder.objectRef<{ code: string; count: number }>('SkippedCount').implement({
  description: 'The number of licenses that were skipped for a reason.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The reason, such as INVALID_TRANSITION or UNCHANGED.' }),
    count: t.exposeInt('count', { description: 'The number of licenses.' }),
  }),
});

const BulkResult = builder.objectRef<LicenseResult>('BulkResult').implement({
  description: 'What a bulk change did to a license, or would do.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the license, as it was sent or found.' }),
    keyPrefix: t.exposeString('keyPrefix', {
      nullable: true,
      description:
        'The first characters of the key; null for a license that is not found or was not reached.',
    }),
    outcome: t.string({
      description: '`changed` or `skipped`.',
      resolve: ({ outcome }) => outcome,
    }),
    code: t.string({
      nullable: true,
      description: 'Why it is skipped; null if it is changed.',
      resolve: ({ code }) => code ?? null,
    }),
  }),
});

/** Results cost a tenth each, like new keys: they are in memory already, and must be readable in one document. */
const inMemory = { field: 1, multiplier: 1_000 };

/** The payload of a mutation that changes many licenses. */
export const bulkPayload = (name: string) =>
  builder.objectRef<BulkOutcome>(name).implement({
    description: 'What a change of many licenses did, or would do.',
    fields: (t) => ({
      dryRun: t.exposeBoolean('dryRun', { description: 'Whether nothing was changed.' }),
      matched: t.exposeInt('matched', {
        description: 'The number of selected licenses that the application has.',
      }),
      changed: t.exposeInt('changed', { description: 'How many of them were changed, or would be.' }),
      skipped: t.exposeInt('skipped', {
        description: 'The number of selected ids that were not changed, or would not be.',
      }),
      skippedByCode: t.field({
        type: [SkippedCount],
        description: 'The same by reason.',
        resolve: ({ skippedByCode }) =>
          Object.entries(skippedByCode).map(([code, count]) => ({ code, count })),
      }),
      sample: t.field({
        type: [BulkResult],
        description: `The first results, at most ${sampleSize}.`,
        complexity: { field: 1, multiplier: sampleSize },
        resolve: ({ results }) => results.slice(0, sampleSize),
      }),
      changedIds: t.field({
        type: ['ID'],
        description: 'The licenses that were changed, or would be.',
        complexity: 1_000,
        resolve: ({ results }) => results.filter(({ outcome }) => outcome === 'changed').map(({ id }) => id),
      }),
      results: t.field({
        type: [BulkResult],
        description: 'A result for each selected license: in the order of the ids, or newest first.',
        complexity: inMemory,
        resolve: ({ results }) => [...results],
      }),
    }),
  });

builder.mutationField('bulkLicenses', (t) =>
  t.field({
    type: bulkPayload('BulkLicensesPayload'),
    ...withInput(BulkLicensesInput, 'The licenses and the change.'),
    description:
      'Changes up to 10,000 licenses, or tells what would be changed. Each is changed as by its own mutation; those that this does not suit are skipped. Errors: CONFIRMATION_REQUIRED (to delete), APP_NOT_FOUND, TOO_MANY, RATE_LIMITED (if the account creates or changes too many licenses in a minute).',
    // As much as two searches: it reads each license, whether it is selected by a filter or not.
    complexity: 1_000,
    resolve: (_parent, { input }, { service }) => bulkLicenses({ ctx: service, input: withoutNulls(input) }),
  }),
);
