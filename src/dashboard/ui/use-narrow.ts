import { useSyncExternalStore } from 'react';

const query = matchMedia('(max-width: 640px)');

const subscribe = (read: () => void) => {
  query.addEventListener('change', read);
  return () => query.removeEventListener('change', read);
};

/** Whether the screen is so narrow that lists are cards. The style sheets have the same width. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);
