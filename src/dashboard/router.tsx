import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { ApiError } from './api/api-error.ts';
import { appPath } from './api/paths.ts';
import { readBanSearch } from './screens/bans/search.ts';
import { readLicenseSearch } from './screens/licenses/search.ts';
import { readLogSearch } from './screens/log/search.ts';
import { readMintSearch } from './screens/mint/search.ts';
import { readOverviewSearch } from './screens/overview/search.ts';
import { readUserSearch } from './screens/users/search.ts';
import { NotFound } from './shell/not-found.tsx';
import { ScreenError } from './shell/screen-error.tsx';
import { sessionQuery } from './shell/session.ts';
import { Loading } from './ui/page.tsx';

interface Context {
  readonly client: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotFound });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const readNext = (search: Record<string, unknown>): { next?: string | undefined } => ({
  next: textOf(search.next),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readNext,
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-in.tsx'), 'SignIn'),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: readNext,
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-up.tsx'), 'SignUp'),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: async ({ context, location }) => {
    try {
      await context.client.ensureQueryData(sessionQuery());
    } catch (thrown) {
      if (!(thrown instanceof ApiError && thrown.code === 'UNAUTHENTICATED')) throw thrown;
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
    }
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import('./screens/overview/overview.tsx'), 'Overview'),
});

const applications = createRoute({
  getParentRoute: () => shell,
  path: '/applications',
  component: lazyRouteComponent(() => import('./screens/applications/applications.tsx'), 'Applications'),
});

const newApplication = createRoute({
  getParentRoute: () => shell,
  path: '/applications/new',
  component: lazyRouteComponent(() => import('./screens/applications/new-application.tsx'), 'NewApplication'),
});

const application = createRoute({ getParentRoute: () => shell, path: '/applications/$applicationId' });

const applicationHome = createRoute({
  getParentRoute: () => application,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/applications/$applicationId/licenses', params, replace: true });
  },
});

const licenses = createRoute({
  getParentRoute: () => application,
  path: '/licenses',
  validateSearch: readLicenseSearch,
  component: lazyRouteComponent(() => import('./screens/licenses/licenses.tsx'), 'Licenses'),
});

const license = createRoute({
  getParentRoute: () => application,
  path: '/licenses/$licenseId',
  component: lazyRouteComponent(() => import('./screens/license/license.tsx'), 'License'),
});

const mint = createRoute({
  getParentRoute: () => application,
  path: '/mint',
  validateSearch: readMintSearch,
  component: lazyRouteComponent(() => import('./screens/mint/mint.tsx'), 'Mint'),
});

const users = createRoute({
  getParentRoute: () => application,
  path: '/users',
  validateSearch: readUserSearch,
  component: lazyRouteComponent(() => import('./screens/users/users.tsx'), 'Users'),
});

const user = createRoute({
  getParentRoute: () => application,
  path: '/users/$userId',
  component: lazyRouteComponent(() => import('./screens/user/user.tsx'), 'User'),
});

const policies = createRoute({
  getParentRoute: () => application,
  path: '/policies',
  component: lazyRouteComponent(() => import('./screens/policies/policies.tsx'), 'Policies'),
});

const newPolicy = createRoute({
  getParentRoute: () => application,
  path: '/policies/new',
  component: lazyRouteComponent(() => import('./screens/policies/new-policy.tsx'), 'NewPolicy'),
});

const policy = createRoute({
  getParentRoute: () => application,
  path: '/policies/$policyId',
  component: lazyRouteComponent(() => import('./screens/policies/policy.tsx'), 'Policy'),
});

const bans = createRoute({
  getParentRoute: () => application,
  path: '/bans',
  validateSearch: readBanSearch,
  component: lazyRouteComponent(() => import('./screens/bans/bans.tsx'), 'Bans'),
});

const log = createRoute({
  getParentRoute: () => application,
  path: '/log',
  validateSearch: readLogSearch,
  component: lazyRouteComponent(() => import('./screens/log/log.tsx'), 'Log'),
});

const sdk = createRoute({
  getParentRoute: () => application,
  path: '/sdk',
  component: lazyRouteComponent(() => import('./screens/sdk/sdk.tsx'), 'Sdk'),
});

const settings = createRoute({
  getParentRoute: () => application,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
});

const apiKeys = createRoute({
  getParentRoute: () => shell,
  path: '/account/api-keys',
  component: lazyRouteComponent(() => import('./screens/api-keys/api-keys.tsx'), 'ApiKeys'),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/account/webhooks',
  component: lazyRouteComponent(() => import('./screens/webhooks/webhooks.tsx'), 'Webhooks'),
});

const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/account/webhooks/$webhookId',
  component: lazyRouteComponent(() => import('./screens/webhooks/webhook.tsx'), 'Webhook'),
});

const security = createRoute({
  getParentRoute: () => shell,
  path: '/account/security',
  component: lazyRouteComponent(() => import('./screens/security/security.tsx'), 'Security'),
});

const keyCreation = createRoute({
  getParentRoute: () => shell,
  path: '/account/keys',
  component: lazyRouteComponent(() => import('./screens/key-creation/key-creation.tsx'), 'KeyCreation'),
});

const accountLog = createRoute({
  getParentRoute: () => shell,
  path: '/account/log',
  component: lazyRouteComponent(() => import('./screens/log/account-log.tsx'), 'AccountLog'),
});

const tree = root.addChildren([
  signIn,
  signUp,
  shell.addChildren([
    overview,
    applications,
    newApplication,
    application.addChildren([
      applicationHome,
      licenses,
      license,
      mint,
      users,
      user,
      policies,
      newPolicy,
      policy,
      bans,
      log,
      sdk,
      settings,
    ]),
    apiKeys,
    webhooks,
    webhook,
    security,
    keyCreation,
    accountLog,
  ]),
]);

/** The routes of the dashboard, each with its screen, which is loaded when it is first shown. */
export const createDashboardRouter = (client: QueryClient) =>
  createRouter({
    routeTree: tree,
    basepath: appPath,
    context: { client },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: ScreenError,
    defaultPendingComponent: Loading,
    defaultNotFoundComponent: NotFound,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
