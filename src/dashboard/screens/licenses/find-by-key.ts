import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';

const LicensesByKey = graphql(`
  query LicensesByKey($applicationId: ID!, $q: String!) {
    application(id: $applicationId) {
      licenses(first: 1, q: $q) {
        edges {
          node {
            keyPrefix
          }
        }
      }
    }
  }
`);

/**
 * The prefix of the license that has this key. The key is sent once and kept nowhere: not in the address, and not in the
 * cache of answers.
 */
export async function findPrefixByKey(applicationId: string, key: string): Promise<string | null> {
  const { application } = await request(LicensesByKey, { applicationId, q: key });
  return application?.licenses.edges[0]?.node.keyPrefix ?? null;
}
