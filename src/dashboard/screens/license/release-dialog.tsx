import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicenseDeviceFragment } from '../../generated/graphql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import { deviceName } from './device-name.ts';
import type { LicenseData } from './license-data.ts';

const LicenseReleaseDevice = graphql(`
  mutation LicenseReleaseDevice($input: ReleaseDeviceInput!) {
    releaseDevice(input: $input) {
      device {
        id
        state
      }
    }
  }
`);

interface ReleaseDialogProps extends DialogProps {
  readonly license: LicenseData;
  readonly device: LicenseDeviceFragment;
}

export function ReleaseDialog({ license, device, onClose }: ReleaseDialogProps) {
  const name = deviceName(device);
  const { mutate, error, isPending } = useChange(LicenseReleaseDevice, {
    onDone: () => {
      tell(`${name} released`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Release device"
      action="Release device"
      busy={isPending}
      onConfirm={() => mutate({ input: { licenseId: license.id, deviceId: device.id } })}
      onClose={onClose}
    >
      <p>
        <strong>{name}</strong> loses its place, so that another device can take it. Leases of the license are
        revoked.{' '}
        {license.selfService === 'off'
          ? 'If it asks again while there is room, it is bound again as a new device.'
          : 'If it asks again, it is refused with DEVICE_RELEASED until its customer moves the license back to it.'}
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}
