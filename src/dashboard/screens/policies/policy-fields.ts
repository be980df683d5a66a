import { graphql } from '../../generated/gql.ts';

/** What a policy's form needs. */
export const PolicyFields = graphql(`
  fragment PolicyFields on Policy {
    id
    code
    name
    durationSeconds
    startsAt
    subscriptionTier
    deviceLimit
    selfService
    moves {
      count
      periodSeconds
    }
    cooldownSeconds
    releaseIdleAfterSeconds
    graceSeconds
    leaseSeconds
    entitlements
    metadata
    keyMask
  }
`);
