import { useFind } from '../../api/use-find.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseScreenQuery } from '../../generated/graphql.ts';

const LicenseScreen = graphql(`
  query LicenseScreen($licenseId: ID!) {
    license(id: $licenseId) {
      id
      keyPrefix
      status
      createdAt
      activatedAt
      expiresAt
      graceEndsAt
      graceSeconds
      durationSeconds
      subscriptionTier
      suspendedAt
      suspensionReason
      clockStopped
      deviceCount
      deviceLimit
      overLimit
      selfService
      moves {
        count
        periodSeconds
      }
      cooldownSeconds
      releaseIdleAfterSeconds
      leaseSeconds
      entitlements
      metadata
      tags
      lastIp
      note
      noteCiphertextB64
      policyId
      policy {
        id
        name
      }
      application {
        id
        name
        version
        leaseDays
        hwidLockEnabled
      }
      users(first: 10) {
        totalCount
        edges {
          node {
            id
            username
          }
        }
      }
      bans(first: 10) {
        totalCount
        edges {
          node {
            id
            banType
            value
          }
        }
      }
    }
  }
`);

/** What the screen knows of its license. */
export type LicenseData = NonNullable<LicenseScreenQuery['license']>;

/** The license; null if the account has none with this id, or no more. */
export const useLicense = (licenseId: string): LicenseData | null =>
  useFind(LicenseScreen, { licenseId }, ['license', 'ban', 'device', 'policy', 'user'])?.license ?? null;
