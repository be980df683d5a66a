import type { LicenseDeviceFragment } from '../../generated/graphql.ts';

/** What a device is called: its name, its HWID, or that only the hash of its HWID is known. */
export const deviceName = ({ name, hwid }: Pick<LicenseDeviceFragment, 'name' | 'hwid'>): string =>
  name ?? hwid ?? 'Device known by hash only';
