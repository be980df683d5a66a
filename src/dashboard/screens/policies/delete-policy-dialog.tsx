import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';

const DeletePolicy = graphql(`
  mutation PolicyDelete($input: DeletePolicyInput!) {
    deletePolicy(input: $input) {
      deletedPolicyId
    }
  }
`);

/** The policy that a dialog is about. */
export interface NamedPolicy {
  readonly id: string;
  readonly applicationId: string;
  readonly name: string;
}

interface DeletePolicyDialogProps {
  readonly policy: NamedPolicy;
  readonly onClose: () => void;
}

export function DeletePolicyDialog({ policy, onClose }: DeletePolicyDialogProps) {
  const { id, applicationId, name } = policy;
  const navigate = useNavigate();
  const remove = useChange(DeletePolicy, {
    onDone: () => {
      tell(`Policy “${name}” deleted`);
      void navigate({
        to: '/applications/$applicationId/policies',
        params: { applicationId },
        ignoreBlocker: true,
      });
    },
  });
  return (
    <ConfirmDialog
      title={`Delete “${name}”?`}
      action="Delete policy"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ input: { applicationId, policyId: id } })}
      onClose={onClose}
    >
      <p>
        Licenses that were created with it keep their terms: nothing changes for a customer. A shop that still
        names this policy can no longer create licenses with it. This cannot be undone.
      </p>
      {remove.error && <Problem error={remove.error} />}
    </ConfirmDialog>
  );
}
