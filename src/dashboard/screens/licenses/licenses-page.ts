import { present } from '../../api/present.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicensesPageQuery } from '../../generated/graphql.ts';
import { pageOf } from '../../list/page.ts';

export const LicensesPage = graphql(`
  query LicensesPage($applicationId: ID!, $first: Int!, $after: String, $q: String, $filter: LicenseFilter, $isCounted: Boolean!) {
    application(id: $applicationId) {
      licenses(first: $first, after: $after, q: $q, filter: $filter) {
        totalCount @include(if: $isCounted)
        totalCountIsExact @include(if: $isCounted)
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            keyPrefix
            status
            graceEndsAt
            subscriptionTier
            deviceCount
            deviceLimit
            overLimit
            createdAt
            activatedAt
            expiresAt
            durationSeconds
            suspendedAt
            clockStopped
            lastIp
            lastSeenAt
            tags
            note
            policy {
              id
              name
            }
          }
        }
      }
    }
  }
`);

/** The application, whose identity is known but not whether it exists. */
export const readLicenses = ({ application }: LicensesPageQuery) => pageOf(present(application).licenses);

export type LicenseRow = ReturnType<typeof readLicenses>['rows'][number];
