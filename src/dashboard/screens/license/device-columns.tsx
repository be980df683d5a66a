import type { LicenseDeviceFragment } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import type { SimpleColumn } from '../../ui/simple-table.tsx';
import { Dim, Hidden, Mono } from '../../ui/text.tsx';
import { Ago, Day } from '../../ui/time.tsx';
import { deviceName } from './device-name.ts';
import { DeviceTitle } from './device-title.tsx';

interface ColumnsOptions {
  readonly licenseId: string;
  readonly onRelease: (deviceId: string) => void;
}

const releasers = { customer: 'by its customer', idle: 'idle', vendor: 'by you' } as const;

export const deviceColumns = ({
  licenseId,
  onRelease,
}: ColumnsOptions): readonly SimpleColumn<LicenseDeviceFragment>[] => [
  { header: 'Device', cell: (device) => <DeviceTitle licenseId={licenseId} device={device} /> },
  { header: 'Platform', cell: ({ platform }) => platform ?? <Dim>–</Dim> },
  { header: 'First seen', cell: ({ firstSeenAt }) => <Day at={firstSeenAt} /> },
  { header: 'Last seen', cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} /> },
  {
    header: 'Address',
    cell: ({ lastIp, country }) =>
      lastIp ? (
        <span>
          <Mono>{lastIp}</Mono> {country && <Dim>{country}</Dim>}
        </span>
      ) : (
        <Dim>–</Dim>
      ),
  },
  {
    header: 'State',
    number: true,
    cell: (device) =>
      device.state === 'active' ? (
        <span>
          <Button small onClick={() => onRelease(device.id)}>
            Release<Hidden> {deviceName(device)}</Hidden>
          </Button>
        </span>
      ) : (
        <Dim>
          Released {device.releasedAt && <Day at={device.releasedAt} />}
          {device.releasedBy && `, ${releasers[device.releasedBy]}`}
        </Dim>
      ),
  },
];
