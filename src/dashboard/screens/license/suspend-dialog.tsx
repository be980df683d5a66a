import { type FormEvent, useState } from 'react';
import { formError } from '../../api/form-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import type { DialogProps } from './acts.ts';
import type { Suspension } from './use-suspension.ts';

export function SuspendDialog({ suspension, onClose }: DialogProps & { readonly suspension: Suspension }) {
  const [reason, setReason] = useState('');
  const [stopClock, setStopClock] = useState(false);
  const { suspend, suspendError: error, isBusy } = suspension;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    // The error is shown in the form.
    suspend({ stopClock, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }).then(
      onClose,
      () => {},
    );
  };
  return (
    <Dialog
      title="Suspend license"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="suspend-license" busy={isBusy}>
            Suspend license
          </Button>
        </>
      }
    >
      <form id="suspend-license" onSubmit={submit}>
        <FormStack>
          <p>
            Programs with this key are refused with SUSPENDED until you reinstate it. Its leases are revoked.
          </p>
          {formError(error, 'reason') && <Problem error={error} />}
          <TextField
            label="Reason (optional)"
            hint="A note for yourself. Customers are not told."
            maxLength={200}
            value={reason}
            onChange={setReason}
            error={issueFor(error, 'reason')}
          />
          <CheckField
            label="Stop the clock"
            hint="The remaining term is kept: reinstating moves the expiry by as long as the suspension lasted."
            checked={stopClock}
            onChange={setStopClock}
          />
        </FormStack>
      </form>
    </Dialog>
  );
}
