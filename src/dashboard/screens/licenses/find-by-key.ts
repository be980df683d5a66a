import { request } from '../../api/request.ts';
import { graphql } from '../../generated/gql.ts';
import type { Found } from '../../list/search-input.tsx';

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
 * Finds a license by its whole key. The key is sent once and kept nowhere: not in the address, and not in the cache of
 * answers.
 */
export async function findByKey(applicationId: string, key: string): Promise<Found> {
  const { application } = await request(LicensesByKey, { applicationId, q: key });
  const prefix = application?.licenses.edges[0]?.node.keyPrefix;
  return prefix === undefined
    ? { q: '', says: 'No license of this application has this key.' }
    : {
        q: prefix,
        says: 'Found by its whole key. The search keeps only the prefix, because addresses of pages are easily passed on.',
      };
}
