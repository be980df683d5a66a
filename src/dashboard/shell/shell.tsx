import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useLiveUpdates } from '../api/live.ts';
import { Button } from '../ui/button.tsx';
import { Loading } from '../ui/page.tsx';
import { ConfirmationProvider } from './confirmation.tsx';
import { Navigation } from './navigation.tsx';
import styles from './shell.module.css';
import { useShellShortcuts } from './shell-shortcuts.ts';
import { useOneDeveloper } from './use-one-developer.ts';

const ShortcutsHelp = lazy(() =>
  import('./shortcuts-help.tsx').then(({ ShortcutsHelp }) => ({ default: ShortcutsHelp })),
);
const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));

/** What surrounds every screen of a developer who is signed in. */
export function Shell() {
  const { applicationId } = useParams({ strict: false });
  const { pathname } = useLocation();
  const [open, setOpen] = useState<'menu' | 'palette' | 'shortcuts' | null>(null);
  const stream = useLiveUpdates();
  const main = useRef<HTMLElement>(null);
  const close = () => setOpen(null);
  useShellShortcuts({
    applicationId,
    onSearch: () => setOpen('palette'),
    onHelp: () => setOpen('shortcuts'),
  });
  useFocusOnNavigation(pathname, main);
  useOneDeveloper();
  return (
    <ConfirmationProvider>
      <div className={styles.app}>
        <header className={styles.header}>
          <a
            className={styles.skip}
            href={`${pathname}#main`}
            onClick={(event) => focusMain(event, main.current)}
          >
            Skip to the content
          </a>
          <div className={styles.top}>
            <span className={styles.brand}>
              <span className={styles.mark} aria-hidden />
              Latchkey
            </span>
            <Button look="quiet" onClick={() => setOpen('palette')}>
              Search
            </Button>
            <Button
              aria-expanded={open === 'menu'}
              aria-controls="navigation"
              onClick={() => setOpen(open === 'menu' ? null : 'menu')}
            >
              {open === 'menu' ? 'Close' : 'Menu'}
            </Button>
          </div>
        </header>
        <Navigation
          id="navigation"
          applicationId={applicationId}
          isOpen={open === 'menu'}
          stream={stream}
          onSearch={() => setOpen('palette')}
          onClose={close}
        />
        <main id="main" ref={main} tabIndex={-1} className={styles.main}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      {/* A dialog from the first moment, so that what is typed while it loads is no shortcut. */}
      <Suspense fallback={<div role="dialog" aria-label="Loading" />}>
        {open === 'palette' && (
          <Palette applicationId={applicationId} onClose={close} onHelp={() => setOpen('shortcuts')} />
        )}
        {open === 'shortcuts' && <ShortcutsHelp onClose={close} />}
      </Suspense>
    </ConfirmationProvider>
  );
}

function focusMain(event: React.MouseEvent, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

/** How long a new screen may take until the old one is gone. */
const longestChange = 10_000;

/** After a navigation the focus begins at the new screen, so that a screen reader reads it. */
function useFocusOnNavigation(pathname: string, main: React.RefObject<HTMLElement | null>): void {
  const previous = useRef(pathname);
  useEffect(() => {
    if (previous.current === pathname) return;
    previous.current = pathname;
    const { activeElement } = document;
    const focus = () => main.current?.focus({ preventScroll: true });
    if (!main.current?.contains(activeElement)) {
      focus();
      return;
    }
    // The link that was followed loses the focus when it goes, with the screen that it is on.
    const start = performance.now();
    let frame = requestAnimationFrame(function look(now) {
      if (document.activeElement === document.body) focus();
      else if (document.activeElement === activeElement && now - start < longestChange)
        frame = requestAnimationFrame(look);
    });
    return () => cancelAnimationFrame(frame);
  }, [pathname, main]);
}
