import { useRef } from 'react';
import { useShortcuts } from '../shell/shortcuts.ts';
import type { SelectionState } from './selection.ts';

/** The links of the rows that are rendered, by the index of their row. */
const linkOf = (index: number): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-index="${index}"] a, [data-index="${index}"] button`);

const indexOf = (element: Element | null): number | null => {
  const index = element?.closest('[data-index]')?.getAttribute('data-index');
  return index === null || index === undefined ? null : Number(index);
};

/** `j` and `k` move the focus to the next and the previous row, `x` selects it, and Enter follows its link. */
export function useRowKeys(idAt: (index: number) => string | undefined, selection?: SelectionState): void {
  const last = useRef<number | null>(null);
  const move = (step: number) => {
    const at = indexOf(document.activeElement) ?? last.current;
    const next = at === null ? (indexOf(document.querySelector('[data-index]')) ?? 0) : at + step;
    const link = linkOf(next);
    if (link === null) return;
    last.current = next;
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: 'nearest' });
  };
  useShortcuts([
    { keys: 'j', label: 'Next row', run: () => move(1) },
    { keys: 'k', label: 'Previous row', run: () => move(-1) },
    ...(selection === undefined
      ? []
      : [
          {
            keys: 'x',
            label: 'Select the row',
            run: () => {
              const at = indexOf(document.activeElement);
              const id = at === null ? undefined : idAt(at);
              if (id !== undefined) selection.toggle(id);
            },
          },
        ]),
  ]);
}
