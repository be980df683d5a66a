import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { accountLinks, applicationLinks } from './navigation.tsx';
import { useApplications } from './session.ts';
import { useSignOut } from './sign-out.ts';
import { setTheme, useShownTheme } from './theme.ts';

/** Something to go to or to do. */
export interface PaletteItem {
  readonly id: string;
  readonly name: string;
  readonly detail?: ReactNode;
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** What the palette offers without asking the service: screens, applications and actions. */
export function usePaletteItems(
  applicationId: string | undefined,
  onHelp: () => void,
): readonly PaletteGroup[] {
  const navigate = useNavigate();
  const applications = useApplications();
  const signOut = useSignOut();
  const otherTheme = useShownTheme() === 'dark' ? 'light' : 'dark';
  const only = applications.length === 1 ? applications[0] : undefined;
  const current = applications.find(({ id }) => id === applicationId) ?? only;
  const screens = [
    ...(current === undefined
      ? []
      : applicationLinks.map(({ to, name }) => ({
          name,
          detail: current.name,
          run: () => navigate({ to, params: { applicationId: current.id } }),
        }))),
    { name: 'Overview', run: () => navigate({ to: '/' }) },
    { name: 'Applications', run: () => navigate({ to: '/applications' }) },
    ...accountLinks.map(({ to, name }) => ({ name, detail: 'Account', run: () => navigate({ to }) })),
  ];
  const actions = [
    ...(current === undefined
      ? []
      : [
          {
            name: 'Mint keys',
            detail: current.name,
            run: () =>
              navigate({ to: '/applications/$applicationId/mint', params: { applicationId: current.id } }),
          },
        ]),
    { name: 'New application', run: () => navigate({ to: '/applications/new' }) },
    { name: 'Add webhook', run: () => navigate({ to: '/account/webhooks' }) },
    { name: `Use the ${otherTheme} theme`, run: () => setTheme(otherTheme) },
    { name: 'Show keyboard shortcuts', run: onHelp },
    { name: 'Sign out', run: signOut },
  ];
  const withId = (items: readonly Omit<PaletteItem, 'id'>[], group: string): readonly PaletteItem[] =>
    items.map((item) => ({ ...item, id: `${group}-${item.name}` }));
  return [
    { name: 'Go to', items: withId(screens, 'screen') },
    { name: 'Actions', items: withId(actions, 'action') },
    {
      name: 'Applications',
      items: applications
        .filter(({ id }) => id !== current?.id)
        .map(({ id, name }) => ({
          id: `application-${id}`,
          name,
          run: () => navigate({ to: '/applications/$applicationId/licenses', params: { applicationId: id } }),
        })),
    },
  ];
}
