import type { UpdateLicenseInput } from '../../generated/graphql.ts';
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
import type { LicenseData } from './license-data.ts';

/** The terms of a license as they are being edited. */
export interface TermsForm {
  readonly deviceLimit: number | null;
  /** Null: never. */
  readonly expiresAt: string | null;
  readonly graceSeconds: number;
  readonly leaseSeconds: number | null;
  readonly selfService: LicenseData['selfService'];
  readonly moves: MovesValue | null;
  readonly cooldownSeconds: number;
  readonly releaseIdleAfterSeconds: number | null;
  readonly entitlements: readonly ValueRow[];
  readonly metadata: MetadataRows;
  readonly tags: string;
}

export const formOf = (license: LicenseData): TermsForm => ({
  deviceLimit: license.deviceLimit,
  expiresAt: license.expiresAt ?? null,
  graceSeconds: license.graceSeconds,
  leaseSeconds: license.leaseSeconds ?? null,
  selfService: license.selfService,
  moves: license.moves ?? null,
  cooldownSeconds: license.cooldownSeconds,
  releaseIdleAfterSeconds: license.releaseIdleAfterSeconds ?? null,
  entitlements: rowsOf(license.entitlements),
  metadata: metadataRowsOf(license.metadata),
  tags: license.tags.join(', '),
});

export const isComplete = ({ entitlements, metadata }: TermsForm): boolean =>
  [entitlements, metadata.client, metadata.private].every(areRowsComplete);

type Terms = Omit<UpdateLicenseInput, 'id'>;

const valuesOf = (form: TermsForm): Terms => ({
  deviceLimit: form.deviceLimit,
  expiresAt: form.expiresAt,
  graceSeconds: form.graceSeconds,
  leaseSeconds: form.leaseSeconds,
  selfService: form.selfService,
  moves:
    form.moves === null || form.moves.count === null
      ? null
      : { count: form.moves.count, periodSeconds: form.moves.periodSeconds },
  cooldownSeconds: form.cooldownSeconds,
  releaseIdleAfterSeconds: form.releaseIdleAfterSeconds,
  entitlements: recordOf(form.entitlements),
  metadata: metadataOf(form.metadata),
  tags: [...new Set(form.tags.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== ''),
});

/** The members that differ: what was not touched stays as it is, also if someone else has changed it meanwhile. */
export function changesOf(before: TermsForm, after: TermsForm): Terms {
  const previous = new Map(Object.entries(valuesOf(before)));
  return Object.fromEntries(
    Object.entries(valuesOf(after)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(previous.get(name)),
    ),
  );
}
