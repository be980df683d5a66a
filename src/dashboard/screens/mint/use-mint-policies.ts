import { useRead } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { MintPoliciesQuery } from '../../generated/graphql.ts';

const MintPolicies = graphql(`
  query MintPolicies($applicationId: ID!) {
    application(id: $applicationId) {
      name
      policies(first: 200) {
        edges {
          node {
            id
            name
            durationSeconds
            startsAt
            subscriptionTier
            deviceLimit
            graceSeconds
            entitlements
            metadata
            keyMask
          }
        }
      }
    }
  }
`);

type Application = NonNullable<MintPoliciesQuery['application']>;
export type MintPolicy = Application['policies']['edges'][number]['node'];

/** The application's name, and its policies, of which it has 200 at most. */
export function useMintPolicies(applicationId: string): {
  readonly name: string;
  readonly policies: readonly MintPolicy[];
} {
  const { application } = useRead(MintPolicies, { applicationId }, ['policy', 'application']);
  return {
    name: application?.name ?? '',
    policies: application?.policies.edges.map(({ node }) => node) ?? [],
  };
}
