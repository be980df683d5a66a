import { present } from '../../api/present.ts';
import { graphql } from '../../generated/gql.ts';
import type { BansPageQuery } from '../../generated/graphql.ts';
import { pageOf } from '../../list/page.ts';

export const BansPage = graphql(`
  query BansPage($applicationId: ID!, $first: Int!, $after: String, $q: String, $filter: BanFilter) {
    application(id: $applicationId) {
      bans(first: $first, after: $after, q: $q, filter: $filter) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            banType
            value
            createdAt
            sourceLicense {
              id
              keyPrefix
            }
          }
        }
      }
    }
  }
`);

export const readBans = ({ application }: BansPageQuery) => pageOf(present(application).bans);
export type BanRow = ReturnType<typeof readBans>['rows'][number];
