import { type FormEvent, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import type { BanScope } from '../../generated/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField } from '../../ui/choice-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseBan = graphql(`
  mutation LicenseBan($input: BanLicenseInput!) {
    banLicense(input: $input) {
      license {
        id
        status
      }
    }
  }
`);

const scopes = [
  {
    value: 'license',
    label: 'Only the license',
    hint: 'Its key is refused. Its devices can use another license.',
  },
  {
    value: 'hwid',
    label: 'The license and its devices',
    hint: 'Devices whose HWID is known are refused with any license of this application.',
  },
  {
    value: 'hwid_and_ip',
    label: 'The license, its devices and an address',
    hint: 'Everyone behind the address is refused, too: an office or a mobile network may share it.',
  },
] as const satisfies readonly { value: BanScope; label: string; hint: string }[];

export function BanDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const { id, lastIp } = license;
  const [scope, setScope] = useState<BanScope>('license');
  const [ip, setIp] = useState(lastIp ?? '');
  const { mutate, error, isPending } = useChange(LicenseBan, {
    onDone: () => {
      tell('License banned');
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    mutate({
      input: { id, scope, ...(scope === 'hwid_and_ip' && ip.trim() !== '' ? { ip: ip.trim() } : {}) },
    });
  };
  return (
    <Dialog
      title="Ban license"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" type="submit" form="ban-license" busy={isPending}>
            Ban license
          </Button>
        </>
      }
    >
      <form id="ban-license" onSubmit={submit}>
        <FormStack>
          <p>
            Programs with this key are refused with BANNED, and its leases are revoked. You can unban it
            later.
          </p>
          {formError(error, 'ip') && <Problem error={error} />}
          <ChoiceField label="What is banned" value={scope} options={scopes} onChange={setScope} />
          {scope === 'hwid_and_ip' && (
            <TextField
              label="IP address"
              hint={lastIp ? 'Suggested: the address that it was last used from.' : undefined}
              mono
              required
              value={ip}
              onChange={setIp}
              error={issueFor(error, 'ip')}
            />
          )}
        </FormStack>
      </form>
    </Dialog>
  );
}
