import { useState } from 'react';

/** What is selected of a list: some of its rows, or all that match its filter. */
export type Selection =
  | { readonly kind: 'some'; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'all' };

export interface SelectionState {
  readonly selection: Selection;
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly selectAll: () => void;
  readonly select: (ids: readonly string[]) => void;
  readonly clear: () => void;
}

const none: Selection = { kind: 'some', ids: new Set() };

/** @param name another name is another list, with nothing selected */
export function useSelection(name: string): SelectionState {
  const [state, setState] = useState({ name, selection: none });
  const selection = state.name === name ? state.selection : none;
  const set = (next: Selection) => setState({ name, selection: next });
  return {
    selection,
    has: (id) => selection.kind === 'all' || selection.ids.has(id),
    toggle: (id) => {
      const ids = new Set(selection.kind === 'all' ? [] : selection.ids);
      if (!ids.delete(id)) ids.add(id);
      set({ kind: 'some', ids });
    },
    selectAll: () => set({ kind: 'all' }),
    select: (ids) => set({ kind: 'some', ids: new Set(ids) }),
    clear: () => set(none),
  };
}

export const isEmpty = (selection: Selection): boolean =>
  selection.kind === 'some' && selection.ids.size === 0;
