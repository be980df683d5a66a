import { useBlocker } from '@tanstack/react-router';

/**
 * While active, the page is not left by Back, a link or a shortcut, and the browser asks before it is closed or reloaded.
 * @param onKept the page was to be left
 */
export function useLeaveGuard(isActive: boolean, onKept: () => void): void {
  useBlocker({
    shouldBlockFn: () => {
      if (isActive) onKept();
      return isActive;
    },
    enableBeforeUnload: () => isActive,
  });
}
