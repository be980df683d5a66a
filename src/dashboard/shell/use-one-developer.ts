import { useEffect, useState } from 'react';
import { appUrl } from '../api/paths.ts';
import { useDeveloper } from './session.ts';

/** Begins anew if somebody else has signed in in another tab: nothing here is theirs, and the open vault least of all. */
export function useOneDeveloper(): void {
  const { id } = useDeveloper();
  const [first] = useState(id);
  useEffect(() => {
    if (id !== first) location.replace(appUrl);
  }, [id, first]);
}
