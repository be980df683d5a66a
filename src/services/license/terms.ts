import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { strictObject, subscriptionTier } from '../fields.ts';
import { entitlements, type LicenseMetadata, metadata } from './entitlements.ts';
import type { Moves } from './view.ts';

/** Any number of seconds that a column can have. */
const maxSeconds = 2_147_483_647;

/** What starts the term of a license. */
export const startsAt = z.enum(['first_use', 'creation']);
/** How many devices may be bound at a time. Also enforced by the database. */
export const deviceLimit = z.int().min(1).max(1000);
export const selfService = z.enum(['off', 'key', 'account']);
/** How often customers may move devices; null: any number of times. A license remembers its newest 100 moves. */
export const moves = strictObject({
  count: z.int().min(1).max(100),
  periodSeconds: z.int().min(1).max(maxSeconds),
}).nullable();
export const cooldownSeconds = z.int().min(0).max(maxSeconds);
/** Null: devices keep their places. */
export const releaseIdleAfterSeconds = z.int().min(1).max(maxSeconds).nullable();
export const graceSeconds = z.int().min(0).max(maxSeconds);
/** The term of a lease: an hour to thirty days; null: the application's. */
export const leaseSeconds = z.int().min(3600).max(2_592_000).nullable();

/** Parsers of what a license grants besides its duration, by member: of a policy, of a mint, and of a changed license. */
export const licenseTerms = {
  subscriptionTier,
  deviceLimit,
  selfService,
  moves,
  cooldownSeconds,
  releaseIdleAfterSeconds,
  graceSeconds,
  leaseSeconds,
  entitlements,
  metadata,
} as const;

/** What a license grants besides its duration. */
export type LicenseTerms = {
  readonly [Name in keyof typeof licenseTerms]: z.output<(typeof licenseTerms)[Name]>;
};

/** The columns of `moves`; undefined leaves them as they are. */
export const columnsOfMoves = (moves: Moves | null | undefined) =>
  moves === undefined
    ? {}
    : { moveCount: moves?.count ?? null, movePeriodSeconds: moves?.periodSeconds ?? null };

/** Metadata as it is stored: null if there is none. */
export function storedMetadata({ client, private: own }: LicenseMetadata) {
  const isEmpty = [client, own].every((part) => Object.keys(part).length === 0);
  return isEmpty ? null : { client, private: own };
}

/** The column of metadata; undefined leaves it as it is. */
export const columnOfMetadata = (metadata: LicenseMetadata | undefined) =>
  metadata === undefined ? {} : { metadata: storedMetadata(metadata) ?? Prisma.DbNull };

/** The columns that hold terms, as data for Prisma. Terms that are undefined stay as they are. */
export const columnsOfTerms = <Given extends Partial<LicenseTerms>>({
  moves,
  metadata,
  ...others
}: Given) => ({
  ...others,
  ...columnsOfMoves(moves),
  ...columnOfMetadata(metadata),
});
