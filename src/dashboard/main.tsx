import './ui/tokens.css';
import './ui/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { reloadAfterUpgrade } from './api/other-build.ts';
import { createQueryClient } from './api/query-client.ts';
import { createDashboardRouter } from './router.tsx';
import { startTheme } from './shell/theme.ts';
import { Toasts } from './ui/toasts.tsx';

const client = createQueryClient(() => void router.navigate({ to: '/sign-in', search: { next: here() } }));
const router = createDashboardRouter(client);

/** Where to continue after signing in. */
const here = (): string | undefined => {
  const { pathname, searchStr } = router.state.location;
  return pathname.startsWith('/sign-') ? router.state.location.search.next : `${pathname}${searchStr}`;
};

startTheme();
reloadAfterUpgrade();
const root = document.querySelector('#root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
