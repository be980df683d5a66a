import { useQuery } from '@tanstack/react-query';
import { queryOf } from '../api/query.ts';
import { graphql } from '../generated/gql.ts';

const ApplicationCounts = graphql(`
  query ApplicationCounts($applicationId: ID!) {
    application(id: $applicationId) {
      licenses(first: 1) {
        totalCount
      }
      users(first: 1) {
        totalCount
      }
      policies(first: 1) {
        totalCount
      }
      bans(first: 1) {
        totalCount
      }
    }
  }
`);

const topics = ['license', 'user', 'policy', 'ban'] as const;

/** How many of each kind an application has, by the names in the navigation; empty until it is known. */
export function useApplicationCounts(applicationId: string): Readonly<Record<string, number>> {
  const { data } = useQuery(queryOf(ApplicationCounts, { applicationId }, topics));
  const application = data?.application;
  if (!application) return {};
  return {
    Licenses: application.licenses.totalCount,
    Users: application.users.totalCount,
    Policies: application.policies.totalCount,
    Bans: application.bans.totalCount,
  };
}
