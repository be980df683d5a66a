import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { StreamState } from '../api/follow.ts';
import { Button } from '../ui/button.tsx';
import { numberText } from '../ui/format.ts';
import { Hidden } from '../ui/text.tsx';
import { useApplicationCounts } from './application-counts.ts';
import { useApplications, useDeveloper } from './session.ts';
import styles from './shell.module.css';
import { useSignOut } from './sign-out.ts';
import { setTheme, themes, useTheme } from './theme.ts';

export const applicationLinks = [
  { to: '/applications/$applicationId/licenses', name: 'Licenses' },
  { to: '/applications/$applicationId/users', name: 'Users' },
  { to: '/applications/$applicationId/policies', name: 'Policies' },
  { to: '/applications/$applicationId/bans', name: 'Bans' },
  { to: '/applications/$applicationId/log', name: 'Log' },
  { to: '/applications/$applicationId/sdk', name: 'SDK' },
  { to: '/applications/$applicationId/settings', name: 'Settings' },
] as const;

export const accountLinks = [
  { to: '/account/api-keys', name: 'API keys' },
  { to: '/account/webhooks', name: 'Webhooks' },
  { to: '/account/security', name: 'Security' },
  { to: '/account/keys', name: 'Key creation' },
  { to: '/account/log', name: 'Account log' },
] as const;

interface NavigationProps {
  readonly id: string;
  readonly applicationId: string | undefined;
  readonly isOpen: boolean;
  readonly stream: StreamState;
  readonly onSearch: () => void;
  readonly onClose: () => void;
}

export function Navigation({ id, applicationId, isOpen, stream, onSearch, onClose }: NavigationProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links in it have keys; a click on any of them closes the menu.
    <nav
      id={id}
      className={styles.nav}
      aria-label="Main"
      data-open={isOpen}
      onClick={(event) => event.target instanceof HTMLAnchorElement && onClose()}
    >
      <Link to="/" className={styles.brand}>
        <span className={styles.mark} aria-hidden />
        Latchkey
      </Link>
      <button type="button" className={styles.link} onClick={onSearch}>
        Search
        <kbd className={styles.kbd}>Ctrl K</kbd>
      </button>
      <Link to="/" className={styles.link} activeOptions={{ exact: true }}>
        Overview
      </Link>
      <Link to="/applications" className={styles.link} activeOptions={{ exact: true }}>
        Applications
      </Link>
      {applicationId !== undefined && (
        <>
          <ApplicationSwitcher applicationId={applicationId} />
          <ApplicationLinks applicationId={applicationId} />
        </>
      )}
      <h2 className={styles.group}>Account</h2>
      {accountLinks.map(({ to, name }) => (
        <Link key={to} to={to} className={styles.link}>
          {name}
        </Link>
      ))}
      <Who stream={stream} />
    </nav>
  );
}

function ApplicationLinks({ applicationId }: { readonly applicationId: string }) {
  const counts = useApplicationCounts(applicationId);
  return applicationLinks.map(({ to, name }) => (
    <Link key={to} to={to} params={{ applicationId }} className={styles.link}>
      {name}
      {counts[name] !== undefined && <span className={styles.count}>{numberText(counts[name])}</span>}
    </Link>
  ));
}

/** The names of the applications, opened by a button: links, as going to another application is a navigation. */
function ApplicationSwitcher({ applicationId }: { readonly applicationId: string }) {
  const applications = useApplications();
  const [isOpen, setIsOpen] = useState(false);
  const current = applications.find(({ id }) => id === applicationId);
  return (
    <>
      <Button className={styles.switcher} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span className={styles.switcherName}>
          <Hidden>Application: </Hidden>
          {current?.name ?? 'Application'}
        </span>
        <span aria-hidden>{isOpen ? '▴' : '▾'}</span>
      </Button>
      {isOpen && (
        <ul className={styles.applications}>
          {applications.map(({ id, name }) => (
            <li key={id}>
              <Link
                to="/applications/$applicationId/licenses"
                params={{ applicationId: id }}
                className={styles.link}
                aria-current={id === applicationId ? 'true' : undefined}
                onClick={() => setIsOpen(false)}
              >
                {name}
              </Link>
            </li>
          ))}
          <li>
            <Link to="/applications/new" className={styles.link} onClick={() => setIsOpen(false)}>
              New application…
            </Link>
          </li>
        </ul>
      )}
    </>
  );
}

const streamTexts = {
  connecting: 'Connecting…',
  live: 'Live',
  paused: 'Paused in the background',
  interrupted: 'Reconnecting…',
} as const satisfies Record<StreamState, string>;

const themeNames = { system: 'System', light: 'Light', dark: 'Dark' } as const;

function Who({ stream }: { readonly stream: StreamState }) {
  const { email } = useDeveloper();
  const theme = useTheme();
  const signOut = useSignOut();
  return (
    <div className={styles.who}>
      <div className={styles.email} title={email}>
        {email}
      </div>
      <div className={styles.live}>
        <span className={styles.dot} data-state={stream} aria-hidden />
        {streamTexts[stream]}
      </div>
      <button
        type="button"
        className={styles.link}
        onClick={() => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system')}
      >
        Theme
        <span>{themeNames[theme]}</span>
      </button>
      <button type="button" className={styles.link} onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}
