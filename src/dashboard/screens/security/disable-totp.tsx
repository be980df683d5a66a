import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { tell } from '../../ui/toast.ts';
import { besidesProof, noProof, ProofFields, proofInput } from './proof-fields.tsx';

const SecurityDisableTotp = graphql(`
  mutation SecurityDisableTotp($input: DisableTotpInput!) {
    disableTotp(input: $input) {
      security {
        totpEnabled
      }
    }
  }
`);

export function DisableTotp({ onClose }: { readonly onClose: () => void }) {
  const [proof, setProof] = useState(noProof);
  const disable = useChange(SecurityDisableTotp, {
    onDone: () => {
      tell('Two-step sign-in is off.');
      onClose();
    },
  });
  return (
    <FormDialog
      title="Turn off two-step sign-in?"
      action="Turn off"
      look="danger"
      busy={disable.isPending}
      error={besidesProof(disable.error)}
      onSubmit={() => disable.mutate({ input: proofInput(proof) })}
      onClose={onClose}
    >
      <p>From then on, the password alone signs in. The recovery codes are deleted.</p>
      <ProofFields value={proof} onChange={setProof} error={disable.error} />
    </FormDialog>
  );
}
