import { useBlocker } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './dialog.tsx';

export interface LeaveQuestionProps {
  readonly onLeave: () => void;
  readonly onStay: () => void;
}

const UnsavedChanges = ({ onLeave, onStay }: LeaveQuestionProps) => (
  <ConfirmDialog title="Leave without saving?" action="Discard changes" onConfirm={onLeave} onClose={onStay}>
    <p>What you changed on this page is not saved. If you leave, it is lost.</p>
  </ConfirmDialog>
);

interface LeaveGuardProps {
  /** Whether there is something to lose. */
  readonly isActive: boolean;
  /** The dialog that asks; by default about unsaved changes. */
  readonly Question?: (props: LeaveQuestionProps) => ReactNode;
}

/** Asks before a screen is left with something to lose. Navigate with `ignoreBlocker` after it was saved. */
export function LeaveGuard({ isActive, Question = UnsavedChanges }: LeaveGuardProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isActive && current.pathname !== next.pathname,
    enableBeforeUnload: () => isActive,
    withResolver: true,
  });
  return blocker.status === 'blocked' && <Question onLeave={blocker.proceed} onStay={blocker.reset} />;
}
