import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { numberText } from '../../ui/format.ts';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseResetHwid = graphql(`
  mutation LicenseResetHwid($input: ResetLicenseHwidInput!) {
    resetLicenseHwid(input: $input) {
      license {
        id
        deviceCount
      }
    }
  }
`);

const LicenseDelete = graphql(`
  mutation LicenseDelete($input: DeleteLicenseInput!) {
    deleteLicense(input: $input) {
      deletedLicenseId
    }
  }
`);

interface LicenseDialogProps extends DialogProps {
  readonly license: LicenseData;
}

export function ResetDialog({ license, onClose }: LicenseDialogProps) {
  const { mutate, error, isPending } = useChange(LicenseResetHwid, {
    onDone: () => {
      tell('Devices reset');
      onClose();
    },
  });
  const { deviceCount } = license;
  return (
    <ConfirmDialog
      title="Reset devices"
      action="Reset devices"
      busy={isPending}
      onConfirm={() => mutate({ input: { id: license.id } })}
      onClose={onClose}
    >
      <p>
        {deviceCount === 1 ? 'Its device is' : `All ${numberText(deviceCount)} devices are`} released, and its
        leases are revoked. The next validation binds a device again, whichever asks first. This cannot be
        undone.
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}

export function DeleteDialog({ license, onClose }: LicenseDialogProps) {
  const navigate = useNavigate();
  const applicationId = license.application.id;
  const { mutate, error, isPending } = useChange(LicenseDelete, {
    onDone: () => {
      tell(`License ${license.keyPrefix} deleted`);
      void navigate({ to: '/applications/$applicationId/licenses', params: { applicationId } });
    },
  });
  return (
    <ConfirmDialog
      title="Delete license"
      action="Delete license"
      busy={isPending}
      onConfirm={() => mutate({ input: { id: license.id } })}
      onClose={onClose}
    >
      <p>
        The key stops working at once, and the license is gone with its devices. Its users remain, without a
        license. This cannot be undone. To block a customer, ban the license instead.
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}
