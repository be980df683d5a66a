import { useCallback, useEffect, useState } from 'react';

/** So far may the page be scrolled for its list to be at the top. */
const tolerance = 80;

const isScrolledToTop = (): boolean => window.scrollY < tolerance;

/** Whether a row or a dialog has the focus: then its reader would lose the place if rows moved. */
const isReading = (): boolean =>
  document.activeElement?.closest('[data-index], [role="dialog"]') !== null &&
  document.activeElement !== null;

/** Whether the reader is at the top of the page, and whether its rows may move. */
export function useAtTop() {
  const [isAtTop, setIsAtTop] = useState(isScrolledToTop);
  useEffect(() => {
    const look = () => setIsAtTop(isScrolledToTop());
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  const mayMove = useCallback(() => isScrolledToTop() && !isReading(), []);
  return { isAtTop, mayMove };
}
