import { useEffect, useState } from 'react';

export interface Draft<Value> {
  /** What the form shows: the current value with the changes. */
  readonly value: Value;
  readonly set: (change: Partial<Value>) => void;
  readonly discard: () => void;
  /** The service has taken the changes: they are dropped as soon as the current value has been read again. */
  readonly saved: () => void;
}

/**
 * Changes to a value that others may change meanwhile: what was not touched here follows the service.
 * @param current must be the same object as long as nothing was read
 */
export function useDraft<Value extends object>(current: Value): Draft<Value> {
  const [changes, setChanges] = useState<Partial<Value>>({});
  const [savedFrom, setSavedFrom] = useState<Value | null>(null);
  useEffect(() => {
    if (savedFrom === null || savedFrom === current) return;
    setChanges({});
    setSavedFrom(null);
  }, [savedFrom, current]);
  return {
    value: { ...current, ...changes },
    set: (change) => {
      setSavedFrom(null);
      setChanges((latest) => ({ ...latest, ...change }));
    },
    discard: () => setChanges({}),
    saved: () => setSavedFrom(current),
  };
}

/** The members of `after` that differ from those of `before`; both are plain JSON. */
export function changedMembers<Input extends object>(before: Input, after: Input): Partial<Input> {
  const changed: Partial<Input> = {};
  for (const name in after) {
    if (JSON.stringify(after[name]) !== JSON.stringify(before[name])) changed[name] = after[name];
  }
  return changed;
}

export const isEmptyChange = (change: object): boolean => Object.keys(change).length === 0;
