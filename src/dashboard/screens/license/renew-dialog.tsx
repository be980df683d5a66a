import { type FormEvent, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { RenewalBasis } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { DurationField } from '../../ui/duration-field.tsx';
import { SelectField } from '../../ui/field.tsx';
import { dayText } from '../../ui/format.ts';
import { ButtonRow, FormStack, Notice, Problem } from '../../ui/page.tsx';
import { useNow } from '../../ui/time.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';
import { renewalText } from './renewal.ts';

const LicenseRenew = graphql(`
  mutation LicenseRenew($input: RenewLicenseInput!) {
    renewLicense(input: $input) {
      license {
        id
        expiresAt
      }
    }
  }
`);

const bases = [
  { value: 'from_expiry', label: 'Expiry' },
  { value: 'from_now_if_expired', label: 'Expiry, or now if it has expired' },
  { value: 'from_now', label: 'Now' },
] as const satisfies readonly { value: RenewalBasis; label: string }[];

const presets = [
  { label: '30 days', seconds: 2_592_000 },
  { label: '1 year', seconds: 31_536_000 },
] as const;

export function RenewDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const { id, expiresAt, durationSeconds } = license;
  const [seconds, setSeconds] = useState<number>(presets[0].seconds);
  const [basis, setBasis] = useState<RenewalBasis>('from_now_if_expired');
  const now = useNow();
  const { mutate, error, isPending } = useChange(LicenseRenew, {
    onDone: ({ renewLicense }) => {
      const end = renewLicense?.license.expiresAt;
      tell(end ? `License renewed until ${dayText(end)}` : 'License renewed');
      onClose();
    },
  });
  const neverExpires = !expiresAt && durationSeconds === 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPending) mutate({ input: { id, seconds, basis } });
  };
  return (
    <Dialog
      title="Renew license"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="renew-license" busy={isPending} disabled={neverExpires}>
            Renew license
          </Button>
        </>
      }
    >
      <form id="renew-license" onSubmit={submit}>
        <FormStack>
          {formError(error, 'seconds') && <Problem error={error} />}
          <ButtonRow>
            {presets.map((preset) => (
              <Button key={preset.label} small onClick={() => setSeconds(preset.seconds)}>
                {preset.label}
              </Button>
            ))}
          </ButtonRow>
          <DurationField
            label="Renew by"
            value={seconds}
            onChange={setSeconds}
            error={issueFor(error, 'seconds')}
          />
          {expiresAt && (
            <SelectField label="Counted from" value={basis} options={bases} onChange={setBasis} />
          )}
          <Notice calm>
            <span aria-live="polite">
              {neverExpires
                ? 'This license never expires, so there is nothing to renew.'
                : renewalText(license, seconds, basis, now)}
            </span>
          </Notice>
        </FormStack>
      </form>
    </Dialog>
  );
}
