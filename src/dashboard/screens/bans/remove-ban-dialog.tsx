import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { Mono } from '../../ui/text.tsx';
import { tell } from '../../ui/toast.ts';
import type { BanRow } from './bans-page.ts';

const BansDelete = graphql(`
  mutation BansDelete($input: DeleteBanInput!) {
    deleteBan(input: $input) {
      deletedBanId
    }
  }
`);

interface RemoveBanDialogProps {
  readonly applicationId: string;
  readonly ban: BanRow;
  readonly onClose: () => void;
}

export function RemoveBanDialog({ applicationId, ban, onClose }: RemoveBanDialogProps) {
  const { mutate, error, isPending } = useChange(BansDelete, {
    onDone: () => {
      tell('Ban removed');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Remove ban"
      action="Remove ban"
      busy={isPending}
      onConfirm={() => mutate({ input: { applicationId, banId: ban.id } })}
      onClose={onClose}
    >
      <p>
        {ban.banType === 'hwid' ? 'The device ' : 'The address '}
        <Mono>{ban.value}</Mono> can use this application again.
        {ban.sourceLicense && ' The license whose ban created this one stays banned.'}
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}
