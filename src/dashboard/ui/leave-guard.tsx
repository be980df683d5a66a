import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from './dialog.tsx';

/**
 * Asks before a screen with unsaved changes is left. Navigate with `ignoreBlocker` after they were saved.
 * @param isChanged whether there are any
 */
export function LeaveGuard({ isChanged }: { readonly isChanged: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <ConfirmDialog
      title="Leave without saving?"
      action="Discard changes"
      onConfirm={blocker.proceed}
      onClose={blocker.reset}
    >
      <p>What you changed on this page is not saved. If you leave, it is lost.</p>
    </ConfirmDialog>
  );
}
