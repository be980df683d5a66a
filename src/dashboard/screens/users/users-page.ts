import { present } from '../../api/present.ts';
import { graphql } from '../../generated/gql.ts';
import type { UsersPageQuery, UsersPageQueryVariables } from '../../generated/graphql.ts';
import { pageOf } from '../../list/page.ts';
import type { UserSearch } from './search.ts';

export const UsersPage = graphql(`
  query UsersPage($applicationId: ID!, $first: Int!, $after: String, $q: String, $filter: EndUserFilter) {
    application(id: $applicationId) {
      users(first: $first, after: $after, q: $q, filter: $filter) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            username
            email
            subscriptionTier
            lastHwid
            createdAt
            license {
              id
              keyPrefix
            }
          }
        }
      }
    }
  }
`);

export const readUsers = ({ application }: UsersPageQuery) => pageOf(present(application).users);
export type UserRow = ReturnType<typeof readUsers>['rows'][number];

export const filterOf = ({ license, device, tier }: UserSearch): UsersPageQueryVariables['filter'] => ({
  ...(license !== undefined && { hasLicense: license }),
  ...(device !== undefined && { hasHwid: device }),
  ...(tier !== undefined && { subscriptionTiers: [tier] }),
});
