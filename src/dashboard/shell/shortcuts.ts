import { useEffect, useRef } from 'react';

export interface Shortcut {
  /** One key, or two that are pressed one after the other: `j`, `g l`. */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
}

type Registered = { readonly current: readonly Shortcut[] };

const registered = new Set<Registered>();

/** The shortcuts of what is on the screen, for the page of shortcuts. */
export const currentShortcuts = (): readonly Shortcut[] => [...registered].flatMap(({ current }) => current);

/** How long the second key of two may take. */
const sequenceMilliseconds = 1_200;
let first: { readonly key: string; readonly at: number } | null = null;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select'));

/** Whether a dialog or a menu is open, which has the keys then. A message is a dialog too, but not a modal one. */
export const isModal = (): boolean =>
  document.querySelector(
    ':is([role="dialog"], [role="alertdialog"]):not([aria-modal="false"]), [role="menu"]',
  ) !== null;

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || isModal()) return;
  const sequence =
    first !== null && event.timeStamp - first.at < sequenceMilliseconds ? `${first.key} ${event.key}` : null;
  first = null;
  // What was registered last counts: a screen's before the shell's.
  const shortcuts = [...currentShortcuts()].reverse();
  const found =
    shortcuts.find(({ keys }) => keys === sequence) ?? shortcuts.find(({ keys }) => keys === event.key);
  if (found !== undefined) {
    event.preventDefault();
    found.run();
  } else if (shortcuts.some(({ keys }) => keys.startsWith(`${event.key} `))) {
    first = { key: event.key, at: event.timeStamp };
  }
}

/** Shortcuts for as long as the component is on the screen. They do nothing in fields, dialogs and menus. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    if (registered.size === 0) document.addEventListener('keydown', onKeyDown);
    registered.add(latest);
    return () => {
      registered.delete(latest);
      if (registered.size === 0) document.removeEventListener('keydown', onKeyDown);
    };
  }, []);
}
