import type { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { strictObject, subscriptionTier } from '../fields.ts';
import type { ManyChanges, SliceChange } from './change-in-slices.ts';
import { tags } from './entitlements.ts';
import { extendLicensesInput } from './extend.ts';
import type { LockedLicense } from './lock.ts';
import {
  addTags,
  ban,
  type ChangedColumns,
  extend,
  reinstate,
  removeTags,
  renew,
  renewParams,
  setTierTo,
  suspend,
  suspendParams,
  type Transition,
  unban,
} from './transitions.ts';

export const bulkActions = [
  'suspend',
  'reinstate',
  'ban',
  'unban',
  'extend',
  'renew',
  'setTier',
  'addTags',
  'removeTags',
  'delete',
] as const;
export type BulkAction = (typeof bulkActions)[number];

/** The parameters of all actions. Each action refuses those of others. */
export const bulkParams = strictObject({
  reason: suspendParams.shape.reason,
  stopClock: suspendParams.shape.stopClock.unwrap().optional(),
  seconds: renewParams.shape.seconds.optional(),
  basis: renewParams.shape.basis.optional(),
  subscriptionTier: subscriptionTier.optional(),
  tags: tags.optional(),
});

const none = strictObject({});
const tierParams = strictObject({ subscriptionTier });
const tagParams = strictObject({
  tags: tags.refine((given) => given.length > 0, 'must have at least one tag'),
});

/**
 * What an action with these parameters does to a license: the transition of the single verb. One that would leave it as it
 * is counts as UNCHANGED.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function bulkChanges(action: BulkAction, params: unknown): ManyChanges {
  const given = <Schema extends z.ZodType>(schema: Schema) => parseParams(schema, params);
  switch (action) {
    case 'suspend':
      return byTransition(suspend, given(suspendParams));
    case 'reinstate':
      given(none);
      return byTransition(reinstate, undefined);
    case 'ban':
      given(none);
      return byTransition(ban, undefined);
    case 'unban':
      given(none);
      // The single verb says how many bans of devices and addresses it has lifted; this one lifts none.
      return byTransition(unban, undefined, { metadata: { removedBans: 0 } });
    case 'extend':
      return byTransition(extend, given(extendLicensesInput));
    case 'renew':
      return byTransition(renew, given(renewParams));
    case 'setTier':
      return byTransition(setTierTo, given(tierParams));
    case 'addTags': {
      const wanted = given(tagParams);
      const hasAll = (license: LockedLicense) => wanted.tags.every((tag) => license.tags.includes(tag));
      return byTransition(addTags, wanted, { isAlready: hasAll });
    }
    case 'removeTags': {
      const unwanted = given(tagParams);
      const hasNone = (license: LockedLicense) => !unwanted.tags.some((tag) => license.tags.includes(tag));
      return byTransition(removeTags, unwanted, { isAlready: hasNone });
    }
    case 'delete':
      given(none);
      return { deletes: true, judge: deletion };
  }
}

function parseParams<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw ServiceError.invalidInput(
    parsed.error.issues.map((issue) => ({ ...issue, path: ['params', ...issue.path] })),
  );
}

const deletion: ManyChanges['judge'] = ({ keyPrefix }) => ({
  data: null,
  event: 'license_deleted',
  metadata: { keyPrefix },
  revokesLeases: true,
});

interface TransitionOptions {
  /** Whether the license is already what the transition, which refuses it, would make of it. */
  readonly isAlready?: (license: LockedLicense) => boolean;
  /** Members that the log entry has, too. */
  readonly metadata?: SliceChange['metadata'];
}

function byTransition<Params>(
  transition: Transition<Params>,
  params: Params,
  { isAlready = () => false, metadata = {} }: TransitionOptions = {},
): ManyChanges {
  return {
    judge: (license, now) => {
      if (isAlready(license)) return 'UNCHANGED';
      const outcome = transition(license, params, now);
      if ('refusal' in outcome) {
        return outcome.refusal.code === 'VALIDATION_FAILED' ? 'VALIDATION_FAILED' : 'INVALID_TRANSITION';
      }
      const { change } = outcome;
      if (changesNothing(license, change.data)) return 'UNCHANGED';
      return { ...change, metadata: { ...change.metadata, ...metadata } };
    },
  };
}

const changesNothing = (license: LockedLicense, data: ChangedColumns): boolean =>
  Object.entries(data).every(
    ([column, value]) => JSON.stringify(Reflect.get(license, column)) === JSON.stringify(value),
  );
