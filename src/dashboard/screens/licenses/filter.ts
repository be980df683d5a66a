import type { LicenseFilter } from '../../generated/graphql.ts';
import type { LicenseSearch } from './search.ts';

const dayMilliseconds = 86_400_000;

/** The conditions of the API for the filters of the URL. */
export const filterOf = (
  { status, tier, tag, policy, expires, device }: LicenseSearch,
  now: number,
): LicenseFilter => ({
  ...(status && { statuses: [...status] }),
  ...(tier !== undefined && { subscriptionTiers: [tier] }),
  ...(tag !== undefined && { tag }),
  ...(policy !== undefined && { policyId: policy }),
  ...(device !== undefined && { hasHwid: device }),
  ...(expires !== undefined && {
    expiresFrom: new Date(now).toISOString(),
    expiresBefore: new Date(now + expires * dayMilliseconds).toISOString(),
  }),
});

/** Whether anything is filtered or searched. */
export const isFiltered = (search: LicenseSearch): boolean => Object.keys(search).length > 0;
