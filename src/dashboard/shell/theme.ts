import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'latchkey-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const readers = new Set<() => void>();

const read = (): Theme => themes.find((theme) => theme === localStorage.getItem(storageKey)) ?? 'system';

let chosen: Theme = read();

/** The theme that is shown. */
export const shownTheme = (): 'light' | 'dark' =>
  chosen === 'system' ? (prefersDark.matches ? 'dark' : 'light') : chosen;

function apply(): void {
  document.documentElement.dataset.theme = shownTheme();
  for (const notify of readers) notify();
}

/** Applies the theme before anything is rendered, and whenever the system's changes. */
export function startTheme(): void {
  prefersDark.addEventListener('change', apply);
  apply();
}

export function setTheme(theme: Theme): void {
  chosen = theme;
  localStorage.setItem(storageKey, theme);
  apply();
}

const subscribe = (notify: () => void) => {
  readers.add(notify);
  return () => readers.delete(notify);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => chosen);
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, shownTheme);
