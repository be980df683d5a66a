import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseUnban = graphql(`
  mutation LicenseUnban($input: UnbanLicenseInput!) {
    unbanLicense(input: $input) {
      license {
        id
        status
      }
    }
  }
`);

export function UnbanDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const bans = license.bans.totalCount;
  const [removeBans, setRemoveBans] = useState(bans > 0);
  const { mutate, error, isPending } = useChange(LicenseUnban, {
    onDone: () => {
      tell('License unbanned');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Unban license"
      action="Unban license"
      look="primary"
      busy={isPending}
      onConfirm={() => mutate({ input: { id: license.id, removeBans } })}
      onClose={onClose}
    >
      <p>The license is again what it was before its ban. A suspension goes on.</p>
      {error && <Problem error={error} />}
      {bans > 0 && (
        <CheckField
          label={`Remove its ${bans} ${bans === 1 ? 'ban' : 'bans'} of devices and addresses`}
          hint="Otherwise they stay refused. You can remove them one by one in the list of bans."
          checked={removeBans}
          onChange={setRemoveBans}
        />
      )}
    </ConfirmDialog>
  );
}
