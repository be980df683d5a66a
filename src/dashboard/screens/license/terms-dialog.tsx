import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FormStack, Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { DialogProps } from './acts.ts';
import type { LicenseData } from './license-data.ts';
import { TermsFields } from './terms-fields.tsx';
import { changesOf, formOf, isComplete } from './terms-form.ts';

const LicenseUpdateTerms = graphql(`
  mutation LicenseUpdateTerms($input: UpdateLicenseInput!) {
    updateLicense(input: $input) {
      license {
        id
      }
    }
  }
`);

export function TermsDialog({ license, onClose }: DialogProps & { readonly license: LicenseData }) {
  // What the license had when the dialog was opened: only what is changed here is sent.
  const [before] = useState(() => formOf(license));
  const [form, setForm] = useState(before);
  const [wasSent, setWasSent] = useState(false);
  const { mutate, error, isPending } = useChange(LicenseUpdateTerms, {
    onDone: () => {
      tell('Terms saved');
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWasSent(true);
    if (isPending || !isComplete(form)) return;
    const changes = changesOf(before, form);
    if (Object.keys(changes).length === 0) return onClose();
    mutate({ input: { id: license.id, ...changes } });
  };
  return (
    <Dialog
      title="Edit terms"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="license-terms" busy={isPending}>
            Save terms
          </Button>
        </>
      }
    >
      <form id="license-terms" onSubmit={submit}>
        <FormStack>
          {error && <Problem error={error} />}
          <TermsFields license={license} form={form} onChange={setForm} error={error} showsIssues={wasSent} />
        </FormStack>
      </form>
    </Dialog>
  );
}
