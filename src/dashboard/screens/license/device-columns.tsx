import type { LicenseDeviceFragment } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import type { SimpleColumn } from '../../ui/simple-table.tsx';
import { Dim, Hidden, Mono } from '../../ui/text.tsx';
import { Ago, Day } from '../../ui/time.tsx';
import { deviceName } from './device-name.ts';
import { DeviceTitle } from './device-title.tsx';
import styles from './license.module.css';

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
  {
    header: 'First seen',
    cell: ({ firstSeenAt }) => (
      <span className={styles.line}>
        <Day at={firstSeenAt} />
      </span>
    ),
  },
  {
    header: 'Last seen',
    cell: ({ lastSeenAt }) => (
      <span className={styles.line}>
        <Ago at={lastSeenAt} />
      </span>
    ),
  },
  {
    header: 'Address',
    cell: ({ lastIp, country }) =>
      lastIp ? (
        <span className={styles.line}>
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
          <span className={styles.line}>Released {device.releasedAt && <Day at={device.releasedAt} />}</span>{' '}
          {device.releasedBy && <span className={styles.line}>{releasers[device.releasedBy]}</span>}
        </Dim>
      ),
  },
];
