import { type FormEvent, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { download } from '../../ui/download.ts';
import { TextAreaField } from '../../ui/field.tsx';
import { momentText } from '../../ui/format.ts';
import { NumberField } from '../../ui/number-field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';

const LicenseOfflineLease = graphql(`
  mutation LicenseOfflineLease($input: IssueOfflineLeaseInput!) {
    issueOfflineLease(input: $input) {
      lease
      expiresAt
    }
  }
`);

export function LeaseDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  const [deviceRequest, setDeviceRequest] = useState('');
  const [days, setDays] = useState<number | null>(license.application.leaseDays);
  const { mutate, data, error, isPending } = useChange(LicenseOfflineLease);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending || days === null) return;
    mutate({ input: { id: license.id, days, deviceRequest: deviceRequest.trim() } });
  };
  const issued = data?.issueOfflineLease;
  if (issued) {
    return (
      <Dialog
        wide
        title="Offline lease"
        onClose={onClose}
        footer={
          <>
            <Button onClick={() => download(`${license.keyPrefix}lease.txt`, [issued.lease], 'text/plain')}>
              Save as a file
            </Button>
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <p>Bring this text to the device and import it there. It ends on {momentText(issued.expiresAt)}.</p>
        <CodeBlock code={issued.lease} label="The lease" />
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Issue offline lease"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="offline-lease" busy={isPending}>
            Issue lease
          </Button>
        </>
      }
    >
      <form id="offline-lease" onSubmit={submit}>
        <FormStack>
          <p>
            For a device without a network. As with a validation, it starts the term of an unused license and
            binds the device.
          </p>
          {formError(error, 'deviceRequest', 'days') && <Problem error={error} />}
          <TextAreaField
            label="Device request"
            hint="The text that the program shows on the device. It begins with LKQ2."
            mono
            required
            spellCheck={false}
            value={deviceRequest}
            onChange={setDeviceRequest}
            error={issueFor(error, 'deviceRequest')}
          />
          <NumberField
            label="Days"
            min={1}
            max={30}
            value={days}
            onChange={setDays}
            error={issueFor(error, 'days')}
          />
        </FormStack>
      </form>
    </Dialog>
  );
}
