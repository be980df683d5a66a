import type { CreateLicensesInput, PolicyStart } from '../../generated/graphql.ts';
import {
  areRowsComplete,
  type MetadataRows,
  metadataOf,
  metadataRowsOf,
  recordOf,
  rowsOf,
  type ValueRow,
} from '../../terms/value-rows.ts';
import { maskProblem } from '../../vault/private-keys.ts';
import type { MintPolicy } from './use-mint-policies.ts';

export const largestAmount = 10_000;

/** The terms of new licenses, which a policy can fill in. */
export interface TermsDraft {
  readonly isUnlimited: boolean;
  readonly durationSeconds: number;
  readonly startsAt: PolicyStart;
  readonly tier: string;
  readonly deviceLimit: string;
  readonly graceSeconds: number;
  /** Empty: that of the policy, or of the account. */
  readonly mask: string;
  readonly entitlements: readonly ValueRow[];
  readonly metadata: MetadataRows;
}

export interface MintDraft extends TermsDraft {
  readonly policyId: string;
  readonly amount: string;
  readonly tags: string;
  readonly note: string;
}

const yearSeconds = 31_536_000;

export const termsOf = (policy: MintPolicy | undefined): TermsDraft => ({
  isUnlimited: policy?.durationSeconds === 0,
  durationSeconds: policy?.durationSeconds || yearSeconds,
  startsAt: policy?.startsAt ?? 'first_use',
  tier: String(policy?.subscriptionTier ?? 0),
  deviceLimit: String(policy?.deviceLimit ?? 1),
  graceSeconds: policy?.graceSeconds ?? 0,
  mask: '',
  entitlements: rowsOf(policy?.entitlements),
  metadata: metadataRowsOf(policy?.metadata ?? {}),
});

export const draftOf = (policy: MintPolicy | undefined): MintDraft => ({
  ...termsOf(policy),
  policyId: policy?.id ?? '',
  amount: '1',
  tags: '',
  note: '',
});

const isWhole = (text: string, least: number, most: number): boolean =>
  /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most;

export const tagsOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];

export type MintProblems = Partial<Record<keyof MintDraft, string>>;

/** What has to be changed before keys can be minted, by field. */
export function problemsOf(draft: MintDraft): MintProblems {
  const { entitlements, metadata } = draft;
  const areComplete = [entitlements, metadata.client, metadata.private].every(areRowsComplete);
  const mask = draft.mask === '' ? null : maskProblem(draft.mask);
  const tags = tagsOf(draft.tags);
  return {
    ...(!isWhole(draft.amount, 1, largestAmount) && { amount: 'Use a whole number from 1 to 10,000.' }),
    ...(!draft.isUnlimited && draft.durationSeconds <= 0 && { durationSeconds: 'Use at least 1 second.' }),
    ...(!isWhole(draft.tier, 0, 2_147_483_647) && { tier: 'Use a whole number from 0.' }),
    ...(!isWhole(draft.deviceLimit, 1, 1_000) && { deviceLimit: 'Use a whole number from 1 to 1,000.' }),
    ...(tags.length > 20 && { tags: 'Use at most 20 tags.' }),
    ...(tags.some((tag) => tag.length > 64) && { tags: 'Use at most 64 characters for a tag.' }),
    ...(mask !== null && { mask }),
    ...(!areComplete && { entitlements: 'A name or a value is not valid.' }),
  };
}

export type MintTerms = Omit<CreateLicensesInput, 'amount' | 'note'>;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The input of the API. Values that are the policy's are left to it. */
export function termsInput(
  applicationId: string,
  draft: MintDraft,
  policy: MintPolicy | undefined,
): MintTerms {
  const tags = tagsOf(draft.tags);
  const values = {
    durationSeconds: draft.isUnlimited ? 0 : draft.durationSeconds,
    startsAt: draft.startsAt,
    subscriptionTier: Number(draft.tier),
    deviceLimit: Number(draft.deviceLimit),
    graceSeconds: draft.graceSeconds,
    entitlements: recordOf(draft.entitlements),
    metadata: metadataOf(draft.metadata),
  };
  const known = policy && {
    ...policy,
    metadata: { client: policy.metadata.client ?? {}, private: policy.metadata.private ?? {} },
  };
  const given = Object.entries(values).filter(
    ([name, value]) =>
      known === undefined || !isSame(value, Object.entries(known).find(([other]) => other === name)?.[1]),
  );
  return {
    applicationId,
    ...Object.fromEntries(given),
    ...(policy && { policyId: policy.id }),
    ...(draft.mask !== '' && { mask: draft.mask }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}
