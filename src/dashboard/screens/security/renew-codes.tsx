import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { besidesProof, noProof, ProofFields, proofInput } from './proof-fields.tsx';

const SecurityRenewCodes = graphql(`
  mutation SecurityRenewCodes($input: RenewRecoveryCodesInput!) {
    renewRecoveryCodes(input: $input) {
      recoveryCodes
    }
  }
`);

interface RenewCodesProps {
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onClose: () => void;
}

export function RenewCodes({ onCodes, onClose }: RenewCodesProps) {
  const [proof, setProof] = useState(noProof);
  const renew = useChange(SecurityRenewCodes, {
    onDone: ({ renewRecoveryCodes }) => renewRecoveryCodes && onCodes(renewRecoveryCodes.recoveryCodes),
  });
  return (
    <FormDialog
      title="Make new recovery codes?"
      action="Make new codes"
      busy={renew.isPending}
      error={besidesProof(renew.error)}
      onSubmit={() => renew.mutate({ input: proofInput(proof) })}
      onClose={onClose}
    >
      <p>You get ten new codes, shown once. The old ones are worthless from then on.</p>
      <ProofFields value={proof} onChange={setProof} error={renew.error} />
    </FormDialog>
  );
}
