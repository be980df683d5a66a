import type { Prisma } from '../../db/client.ts';

/** The readable columns of a device. */
export const deviceSelect = {
  id: true,
  hwid: true,
  name: true,
  platform: true,
  firstSeenAt: true,
  lastSeenAt: true,
  lastIp: true,
  country: true,
  releasedAt: true,
  releasedBy: true,
} as const satisfies Prisma.DeviceSelect;

type Columns = Prisma.DeviceGetPayload<{ select: typeof deviceSelect }>;

/** With the license, for lists of devices. */
export type DeviceRow = Columns & { readonly licenseId: string };

export type DeviceState = 'active' | 'released';

/** Whether a device is bound to its license, or was until it was released. */
export const deviceState = ({ releasedAt }: Pick<Columns, 'releasedAt'>): DeviceState =>
  releasedAt === null ? 'active' : 'released';

/** `hwid` is null while only its hash is known, because an offline lease has bound the device. */
export type DeviceView = Columns & { readonly state: DeviceState };

export const deviceView = ({
  id,
  hwid,
  name,
  platform,
  firstSeenAt,
  lastSeenAt,
  lastIp,
  country,
  releasedAt,
  releasedBy,
}: Columns): DeviceView => ({
  id,
  hwid,
  name,
  platform,
  firstSeenAt,
  lastSeenAt,
  lastIp,
  country,
  state: deviceState({ releasedAt }),
  releasedAt,
  releasedBy,
});
