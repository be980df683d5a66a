import type { PolicyFieldsFragment, PolicyStart, SelfService } from '../../generated/graphql.ts';
import type { MovesValue } from '../../terms/moves-field.tsx';
import {
  areRowsComplete,
  type MetadataRows,
  metadataOf,
  metadataRowsOf,
  recordOf,
  rowsOf,
  type ValueRow,
} from '../../terms/value-rows.ts';

/** A policy as its form edits it. Null is "none", or a number that is missing. */
export interface PolicyValues {
  readonly name: string;
  readonly code: string;
  readonly durationSeconds: number | null;
  readonly startsAt: PolicyStart;
  readonly graceSeconds: number | null;
  readonly subscriptionTier: number | null;
  readonly deviceLimit: number | null;
  readonly releaseIdleAfterSeconds: number | null;
  readonly selfService: SelfService;
  readonly cooldownSeconds: number | null;
  readonly moves: MovesValue | null;
  readonly leaseSeconds: number | null;
  readonly keyMask: string;
  readonly entitlements: readonly ValueRow[];
  readonly metadata: MetadataRows;
}

/** A new policy's form: the service's defaults, except a year instead of no end. */
export const newPolicyValues: PolicyValues = {
  name: '',
  code: '',
  durationSeconds: 31_536_000,
  startsAt: 'first_use',
  graceSeconds: null,
  subscriptionTier: 0,
  deviceLimit: 1,
  releaseIdleAfterSeconds: null,
  selfService: 'off',
  cooldownSeconds: null,
  moves: null,
  leaseSeconds: null,
  keyMask: '',
  entitlements: [],
  metadata: { client: [], private: [] },
};

const noneIfZero = (seconds: number): number | null => (seconds === 0 ? null : seconds);

export const valuesOf = (policy: PolicyFieldsFragment): PolicyValues => ({
  name: policy.name,
  code: policy.code,
  durationSeconds: noneIfZero(policy.durationSeconds),
  startsAt: policy.startsAt,
  graceSeconds: noneIfZero(policy.graceSeconds),
  subscriptionTier: policy.subscriptionTier,
  deviceLimit: policy.deviceLimit,
  releaseIdleAfterSeconds: policy.releaseIdleAfterSeconds ?? null,
  selfService: policy.selfService,
  cooldownSeconds: noneIfZero(policy.cooldownSeconds),
  moves: policy.moves ?? null,
  leaseSeconds: policy.leaseSeconds ?? null,
  keyMask: policy.keyMask ?? '',
  entitlements: rowsOf(policy.entitlements),
  metadata: metadataRowsOf(policy.metadata),
});

/** What the service takes. Numbers that are missing become 0, which the form's fields refuse first. */
export const inputOf = (values: PolicyValues) => ({
  ...values,
  name: values.name.trim(),
  code: values.code.trim(),
  durationSeconds: values.durationSeconds ?? 0,
  graceSeconds: values.graceSeconds ?? 0,
  subscriptionTier: values.subscriptionTier ?? 0,
  deviceLimit: values.deviceLimit ?? 0,
  cooldownSeconds: values.cooldownSeconds ?? 0,
  moves: values.moves && { ...values.moves, count: values.moves.count ?? 0 },
  keyMask: values.keyMask.trim() === '' ? null : values.keyMask.trim(),
  entitlements: recordOf(values.entitlements),
  metadata: metadataOf(values.metadata),
});

export const isComplete = ({ entitlements, metadata }: PolicyValues): boolean =>
  [entitlements, metadata.client, metadata.private].every(areRowsComplete);

/** A code for a name, such as "pro-one-year" for "Pro, one year". */
export const suggestedCode = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64);
