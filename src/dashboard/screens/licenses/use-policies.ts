import { useQuery } from '@tanstack/react-query';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';

const LicensesPolicies = graphql(`
  query LicensesPolicies($applicationId: ID!) {
    application(id: $applicationId) {
      policies(first: 200) {
        edges {
          node {
            id
            name
          }
        }
      }
    }
  }
`);

export interface NamedPolicy {
  readonly id: string;
  readonly name: string;
}

/** The policies of an application, which has 200 at most; none while they are read. */
export function usePolicies(applicationId: string): readonly NamedPolicy[] {
  const { data } = useQuery(queryOf(LicensesPolicies, { applicationId }, ['policy']));
  return data?.application?.policies.edges.map(({ node }) => node) ?? [];
}
