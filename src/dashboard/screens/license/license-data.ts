import { useSuspenseQuery } from '@tanstack/react-query';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
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

/** Reads the license, and fails also if it is deleted while it is shown. */
export function useLicense(licenseId: string): LicenseData {
  const { data, error } = useSuspenseQuery(
    queryOf(LicenseScreen, { licenseId }, ['license', 'ban', 'device', 'policy', 'user']),
  );
  if (error?.code === 'LICENSE_NOT_FOUND') throw error;
  return present(data.license);
}
