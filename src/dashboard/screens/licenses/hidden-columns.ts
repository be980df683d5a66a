import { useState } from 'react';

const storageKey = 'latchkey-hidden-license-columns';

/** Columns that most lists need less. */
const hiddenAtFirst = ['policy', 'note'];

function read(): readonly string[] {
  const stored = localStorage.getItem(storageKey);
  return stored === null ? hiddenAtFirst : stored.split(' ').filter((id) => id !== '');
}

/** The ids of the columns that are not shown, which this browser remembers. */
export function useHiddenColumns(): readonly [ReadonlySet<string>, (id: string, shown: boolean) => void] {
  const [hidden, setHidden] = useState(read);
  const change = (id: string, shown: boolean) => {
    const next = shown ? hidden.filter((other) => other !== id) : [...hidden, id];
    localStorage.setItem(storageKey, next.join(' '));
    setHidden(next);
  };
  return [new Set(hidden), change];
}
