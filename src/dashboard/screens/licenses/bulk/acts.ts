import type { BulkParams, RenewBasis } from '../../../generated/graphql.ts';

/** What can be done to many licenses at once, in the order of the bar. */
export const bulkActs = [
  { kind: 'suspend', label: 'Suspend', title: 'Suspend licenses', verb: 'Suspend', done: 'suspended' },
  {
    kind: 'reinstate',
    label: 'Reinstate',
    title: 'Reinstate licenses',
    verb: 'Reinstate',
    done: 'reinstated',
  },
  { kind: 'renew', label: 'Renew…', title: 'Renew licenses', verb: 'Renew', done: 'renewed' },
  { kind: 'tags', label: 'Tags…', title: 'Add or remove tags', verb: 'Change tags of', done: 'changed' },
  { kind: 'tier', label: 'Tier…', title: 'Set the tier', verb: 'Set tier of', done: 'changed' },
  { kind: 'policy', label: 'Apply policy…', title: 'Apply a policy', verb: 'Apply to', done: 'changed' },
  { kind: 'ban', label: 'Ban…', title: 'Ban licenses', verb: 'Ban', done: 'banned' },
  { kind: 'unban', label: 'Unban', title: 'Unban licenses', verb: 'Unban', done: 'unbanned' },
  { kind: 'delete', label: 'Delete…', title: 'Delete licenses', verb: 'Delete', done: 'deleted' },
] as const;

export type BulkAct = (typeof bulkActs)[number];
export type BulkKind = BulkAct['kind'];

/** Acts that take something away from customers. */
export const isDangerous = (kind: BulkKind): boolean => kind === 'ban' || kind === 'delete';

/** What the forms of all acts ask for. */
export interface BulkDraft {
  readonly reason: string;
  readonly stopClock: boolean;
  readonly seconds: number;
  readonly basis: RenewBasis;
  readonly tagAct: 'addTags' | 'removeTags';
  readonly tags: string;
  readonly tier: string;
  readonly policyId: string;
}

export const emptyDraft: BulkDraft = {
  reason: '',
  stopClock: false,
  seconds: 31_536_000,
  basis: 'from_now_if_expired',
  tagAct: 'addTags',
  tags: '',
  tier: '',
  policyId: '',
};

/** The texts between commas. */
export const tagsOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];

/** A request for one of the two mutations. */
export type BulkOrder =
  | { readonly action: 'policy'; readonly policyId: string }
  | {
      readonly action: Exclude<BulkKind, 'tags' | 'tier' | 'policy'> | 'addTags' | 'removeTags' | 'setTier';
      readonly params?: BulkParams;
    };

/** What to send for what was filled in; null while something is missing. */
export function orderOf(kind: BulkKind, draft: BulkDraft): BulkOrder | null {
  switch (kind) {
    case 'suspend':
      return {
        action: kind,
        params: {
          stopClock: draft.stopClock,
          ...(draft.reason.trim() !== '' && { reason: draft.reason.trim() }),
        },
      };
    case 'renew':
      return draft.seconds > 0
        ? { action: kind, params: { seconds: draft.seconds, basis: draft.basis } }
        : null;
    case 'tags': {
      const tags = [...tagsOf(draft.tags)];
      return tags.length > 0 ? { action: draft.tagAct, params: { tags } } : null;
    }
    case 'tier':
      return /^\d{1,9}$/.test(draft.tier)
        ? { action: 'setTier', params: { subscriptionTier: Number(draft.tier) } }
        : null;
    case 'policy':
      return draft.policyId === '' ? null : { action: kind, policyId: draft.policyId };
    default:
      return { action: kind };
  }
}
