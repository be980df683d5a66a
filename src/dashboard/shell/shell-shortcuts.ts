import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isModal, useShortcuts } from './shortcuts.ts';

interface ShellShortcuts {
  readonly applicationId: string | undefined;
  readonly onSearch: () => void;
  readonly onHelp: () => void;
}

const screens = [
  { keys: 'g l', to: '/applications/$applicationId/licenses', label: 'Go to the licenses' },
  { keys: 'g u', to: '/applications/$applicationId/users', label: 'Go to the users' },
  { keys: 'g p', to: '/applications/$applicationId/policies', label: 'Go to the policies' },
  { keys: 'g b', to: '/applications/$applicationId/bans', label: 'Go to the bans' },
  { keys: 'g e', to: '/applications/$applicationId/log', label: 'Go to the log' },
  { keys: 'g s', to: '/applications/$applicationId/settings', label: 'Go to the settings' },
  { keys: 'm', to: '/applications/$applicationId/mint', label: 'Mint keys' },
] as const;

/** The shortcuts that every screen has. */
export function useShellShortcuts({ applicationId, onSearch, onHelp }: ShellShortcuts): void {
  const navigate = useNavigate();
  useShortcuts([
    { keys: '?', label: 'Show the shortcuts', run: onHelp },
    { keys: 'g o', label: 'Go to the overview', run: () => navigate({ to: '/' }) },
    { keys: 'g a', label: 'Go to the applications', run: () => navigate({ to: '/applications' }) },
    { keys: 'g w', label: 'Go to the webhooks', run: () => navigate({ to: '/account/webhooks' }) },
    ...(applicationId === undefined
      ? []
      : screens.map(({ keys, to, label }) => ({
          keys,
          label,
          run: () => navigate({ to, params: { applicationId } }),
        }))),
    {
      keys: '/',
      label: 'Filter the list',
      run: () => document.querySelector<HTMLElement>('input[type="search"]')?.focus(),
    },
  ]);
  useEffect(() => {
    // Also in fields: it is the one shortcut with a modifier.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      // What a dialog shows, such as a new token, must not be lost by going elsewhere.
      if (!isModal()) onSearch();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
}
