import type { JsonObject } from '../../protocol/canonical-json.ts';
import { hasMembers, partsThatFit } from './answer-room.ts';
import type { LicenseSnapshot } from './snapshot.ts';

/**
 * Members of an answer about a valid license that are absent if they have nothing to say, so that answers about licenses
 * without them are those of earlier versions.
 */
export type LicenseMembers = {
  /** ISO 8601, while the license is only valid because of its grace. */
  readonly graceEndsAt?: string;
  readonly entitlements?: JsonObject;
  /** The client's part of the metadata. */
  readonly metadata?: JsonObject;
};

export function licenseMembers(
  license: Pick<LicenseSnapshot, 'entitlements' | 'clientMetadata'>,
  graceEndsAt: Date | null,
): LicenseMembers {
  const { entitlements, clientMetadata } = partsThatFit(license);
  return {
    ...(graceEndsAt !== null && { graceEndsAt: graceEndsAt.toISOString() }),
    ...(hasMembers(entitlements) && { entitlements }),
    ...(hasMembers(clientMetadata) && { metadata: clientMetadata }),
  };
}

/** Members of a refusal in addition to its code and message. */
export type RefusalMembers = {
  /** ISO 8601; with DEVICE_RELEASED. */
  readonly releasedAt?: string;
  /** ISO 8601; with MOVE_COOLDOWN. */
  readonly retryAt?: string;
  /** ISO 8601; with MOVES_EXHAUSTED. */
  readonly resetsAt?: string;
};

export const refusalMembers = ({ releasedAt }: { readonly releasedAt?: Date }): RefusalMembers =>
  releasedAt === undefined ? {} : { releasedAt: releasedAt.toISOString() };
