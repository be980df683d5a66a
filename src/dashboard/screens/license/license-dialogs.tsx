import { Suspense } from 'react';
import type { Act, DialogProps } from './acts.ts';
import { BanDialog } from './ban-dialog.tsx';
import { DeleteDialog, ResetDialog } from './confirm-dialogs.tsx';
import { LeaseDialog } from './lease-dialog.tsx';
import type { LicenseData } from './license-data.ts';
import { PolicyDialog } from './policy-dialog.tsx';
import { RenewDialog } from './renew-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { SuspendDialog } from './suspend-dialog.tsx';
import { TermsDialog } from './terms-dialog.tsx';
import { TierDialog } from './tier-dialog.tsx';
import { UnbanDialog } from './unban-dialog.tsx';
import type { Suspension } from './use-suspension.ts';

interface LicenseDialogsProps extends DialogProps {
  readonly act: Act | null;
  readonly license: LicenseData;
  readonly suspension: Suspension;
}

/** The dialog of the act that is under way. */
export const LicenseDialogs = (props: LicenseDialogsProps) => (
  <Suspense>
    <OpenDialog {...props} />
  </Suspense>
);

function OpenDialog({ act, license, suspension, onClose }: LicenseDialogsProps) {
  const shared = { license, onClose };
  switch (act) {
    case null:
      return null;
    case 'suspend':
      return <SuspendDialog suspension={suspension} onClose={onClose} />;
    case 'renew':
      return <RenewDialog {...shared} />;
    case 'ban':
      return <BanDialog {...shared} />;
    case 'unban':
      return <UnbanDialog {...shared} />;
    case 'terms':
      return <TermsDialog {...shared} />;
    case 'tier':
      return <TierDialog {...shared} />;
    case 'policy':
      return <PolicyDialog {...shared} />;
    case 'rotate':
      return <RotateDialog {...shared} />;
    case 'reset':
      return <ResetDialog {...shared} />;
    case 'lease':
      return <LeaseDialog {...shared} />;
    case 'delete':
      return <DeleteDialog {...shared} />;
  }
}
