import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { UserData } from './user-data.ts';

const UserResetHwid = graphql(`
  mutation UserResetHwid($input: ResetEndUserHwidInput!) {
    resetEndUserHwid(input: $input) {
      user {
        id
        lastHwid
      }
    }
  }
`);

const UserDelete = graphql(`
  mutation UserDelete($input: DeleteEndUserInput!) {
    deleteEndUser(input: $input) {
      deletedUserId
    }
  }
`);

interface UserDialogProps {
  readonly user: UserData;
  readonly onClose: () => void;
}

export function ResetUserDialog({ user, onClose }: UserDialogProps) {
  const { mutate, error, isPending } = useChange(UserResetHwid, {
    onDone: () => {
      tell('Device reset');
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title="Reset device"
      action="Reset device"
      busy={isPending}
      onConfirm={() => mutate({ input: { applicationId: user.application.id, userId: user.id } })}
      onClose={onClose}
    >
      <p>
        The last device of {user.username} is forgotten, and their license is unbound from its devices. The
        next sign-in binds a device again. This cannot be undone.
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}

export function DeleteUserDialog({ user, onClose }: UserDialogProps) {
  const navigate = useNavigate();
  const applicationId = user.application.id;
  const { mutate, error, isPending } = useChange(UserDelete, {
    onDone: () => {
      tell(`User ${user.username} deleted`);
      void navigate({ to: '/applications/$applicationId/users', params: { applicationId } });
    },
  });
  return (
    <ConfirmDialog
      title="Delete user"
      action="Delete user"
      busy={isPending}
      onConfirm={() => mutate({ input: { applicationId, userId: user.id } })}
      onClose={onClose}
    >
      <p>
        The account of {user.username} and its sessions are deleted. Their license and the entries of the log
        remain. This cannot be undone.
      </p>
      {error && <Problem error={error} />}
    </ConfirmDialog>
  );
}
