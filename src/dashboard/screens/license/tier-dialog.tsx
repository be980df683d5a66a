import { type FormEvent, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { NumberField } from '../../ui/number-field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import { tell, tellError } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseSetTier = graphql(`
  mutation LicenseSetTier($input: SetLicenseTierInput!) {
    setLicenseTier(input: $input) {
      license {
        id
        subscriptionTier
      }
    }
  }
`);

export function TierDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const { id } = license;
  const [tier, setTier] = useState<number | null>(license.subscriptionTier);
  const change = useChange(LicenseSetTier);
  const before = license.subscriptionTier;
  const set = (subscriptionTier: number) => change.mutateAsync({ input: { id, subscriptionTier } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (change.isPending || tier === null) return;
    set(tier).then(
      () => {
        tell(`Tier set to ${tier}`, {
          label: 'Undo',
          run: () => void set(before).then(() => tell(`Tier set to ${before}`), tellError),
        });
        onClose();
      },
      () => {},
    );
  };
  return (
    <Dialog
      title="Change tier"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="license-tier" busy={change.isPending}>
            Change tier
          </Button>
        </>
      }
    >
      <form id="license-tier" onSubmit={submit}>
        <FormStack>
          {formError(change.error, 'subscriptionTier') && <Problem error={change.error} />}
          <NumberField
            label="Tier"
            hint="From 0. Your program decides what it means, and gets it with its next validation."
            min={0}
            max={2_147_483_647}
            value={tier}
            onChange={setTier}
            error={issueFor(change.error, 'subscriptionTier')}
          />
        </FormStack>
      </form>
    </Dialog>
  );
}
