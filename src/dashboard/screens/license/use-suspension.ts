import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { SuspendLicenseInput } from '../../generated/graphql.ts';
import { tell, tellError } from '../../ui/toast.ts';
import type { LicenseData } from './license-data.ts';

const LicenseSuspend = graphql(`
  mutation LicenseSuspend($input: SuspendLicenseInput!) {
    suspendLicense(input: $input) {
      license {
        id
        status
      }
    }
  }
`);

const LicenseReinstate = graphql(`
  mutation LicenseReinstate($input: ReinstateLicenseInput!) {
    reinstateLicense(input: $input) {
      license {
        id
        status
      }
    }
  }
`);

/** Suspends and reinstates; each is the other's way back. */
export function useSuspension({ id, suspensionReason, clockStopped }: LicenseData) {
  const suspension = useChange(LicenseSuspend);
  const reinstatement = useChange(LicenseReinstate);
  const undoSuspend = () =>
    reinstatement.mutateAsync({ input: { id } }).then(() => tell('License reinstated'), tellError);
  const undoReinstate = (input: SuspendLicenseInput) =>
    suspension.mutateAsync({ input }).then(() => tell('License suspended again'), tellError);
  return {
    /** @throws {ApiError} */
    suspend: async (input: Omit<SuspendLicenseInput, 'id'>) => {
      await suspension.mutateAsync({ input: { id, ...input } });
      tell('License suspended', { label: 'Undo', run: undoSuspend });
    },
    reinstate: () => {
      const before = {
        id,
        stopClock: clockStopped,
        ...(suspensionReason ? { reason: suspensionReason } : {}),
      };
      reinstatement
        .mutateAsync({ input: { id } })
        .then(
          () => tell('License reinstated', { label: 'Undo', run: () => undoReinstate(before) }),
          tellError,
        );
    },
    suspendError: suspension.error,
    isBusy: suspension.isPending || reinstatement.isPending,
  };
}

export type Suspension = ReturnType<typeof useSuspension>;
