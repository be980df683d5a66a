import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { appUrl } from '../api/paths.ts';
import { sessionQuery, useDeveloper } from './session.ts';

/**
 * Begins anew if somebody else has signed in in another tab: nothing here is theirs, and the open vault least of all.
 * A developer who comes back to this tab is looked at first.
 */
export function useOneDeveloper(): void {
  const { id } = useDeveloper();
  const [first] = useState(id);
  useQuery({ ...sessionQuery(), refetchOnWindowFocus: 'always' });
  useEffect(() => {
    if (id !== first) location.replace(appUrl);
  }, [id, first]);
}
