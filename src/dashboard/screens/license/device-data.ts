import { useFind } from '../../api/use-find.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseDevicesQuery } from '../../generated/graphql.ts';

const LicenseDevices = graphql(`
  query LicenseDevices($licenseId: ID!) {
    license(id: $licenseId) {
      active: devices(first: 200, filter: { state: active }) {
        totalCount
        edges {
          node {
            ...LicenseDevice
          }
        }
      }
      released: devices(first: 100, filter: { state: released }) {
        totalCount
        edges {
          node {
            ...LicenseDevice
          }
        }
      }
    }
  }
`);

export const LicenseDevice = graphql(`
  fragment LicenseDevice on Device {
    id
    hwid
    name
    platform
    state
    firstSeenAt
    lastSeenAt
    lastIp
    country
    releasedAt
    releasedBy
  }
`);

export type DeviceRef = NonNullable<LicenseDevicesQuery['license']>['active']['edges'][number]['node'];

/** The devices of a license: at most 200 that are bound, and those that were released last. None if it has been deleted. */
export function useDevices(licenseId: string) {
  const license = useFind(LicenseDevices, { licenseId }, ['license', 'device'])?.license;
  return {
    active: license?.active.edges.map(({ node }) => node) ?? [],
    activeCount: license?.active.totalCount ?? 0,
    released: license?.released.edges.map(({ node }) => node) ?? [],
  };
}
