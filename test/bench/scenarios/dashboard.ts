import { z } from 'zod';
import { httpRequest } from '../http-message.ts';
import { jsonOf, quote, type Scenario } from '../scenario.ts';
import type { Seed } from '../seed.ts';

export const dashboardNames = {
  mint: 'REST: mint 100 keys',
  licenses: 'REST: search of licenses',
  users: 'REST: 50 users',
  logs: 'REST: 50 log entries',
  usersSearch: 'REST: search of users',
  logsSearch: 'REST: search of log entries',
  overview: 'REST: metrics overview',
} as const;

/** What a vendor asks for beside licenses' pages, which `licenses.ts` has. */
export function dashboardScenarios(seed: Seed): Scenario[] {
  const { applicationId, mintApplicationId } = seed;
  const list = (path: string) => get(seed.apiKey, `/api/v1/apps/${applicationId}/${path}`);
  return [
    mintScenario(seed.apiKey, mintApplicationId),
    ...[
      { name: dashboardNames.users, request: list('users?limit=50'), page: pageOf('users', 50) },
      { name: dashboardNames.logs, request: list('logs?limit=50'), page: pageOf('logs', 50) },
      // Each finds the one device, of one license and one user.
      {
        name: dashboardNames.licenses,
        request: list('licenses?q=workstation-07'),
        page: pageOf('licenses', 1),
      },
      { name: dashboardNames.usersSearch, request: list('users?q=workstation-07'), page: pageOf('users', 1) },
      { name: dashboardNames.logsSearch, request: list('logs?q=workstation-07'), page: pageOf('logs', 3) },
    ].map(({ name, request, page }) => scenario(name, request, page)),
    scenario(dashboardNames.overview, get(seed.apiKey, '/api/v1/metrics/overview'), overview),
  ];
}

export const get = (apiKey: string, path: string) =>
  httpRequest({ method: 'GET', path, headers: { Authorization: `Bearer ${apiKey}` } });

/** The same request over and over, whose answer has this shape. */
export function scenario(
  name: string,
  request: ReturnType<typeof httpRequest>,
  shape: z.ZodType,
  more: Pick<Scenario, 'target' | 'connections'> = {},
): Scenario {
  return {
    name,
    ...more,
    next: () => request,
    faultOf: (answer) => (answer.status === 200 ? null : quote(answer)),
    closeFaultOf: (answer) => {
      const parsed = shape.safeParse(jsonOf(answer));
      return parsed.success ? null : z.prettifyError(parsed.error).slice(0, 300);
    },
  };
}

export const pageOf = (member: string, amount: number) =>
  z.object({ [member]: z.array(z.object({ id: z.string() })).length(amount) });

export const overview = z.object({
  metrics: z.object({
    licenses: z.object({ total: z.number() }),
    validations24h: z.object({ total: z.number() }),
  }),
});

export const mintRequest = (apiKey: string, applicationId: string, amount: number) =>
  httpRequest({
    method: 'POST',
    path: '/api/v1/licenses/create',
    headers: { Authorization: `Bearer ${apiKey}` },
    body: { applicationId, amount, durationSeconds: 30 * 86_400 },
  });

const minted = z.object({ keys: z.array(z.object({ licenseKey: z.string() })).length(100) });

function mintScenario(apiKey: string, applicationId: string): Scenario {
  return {
    ...scenario(dashboardNames.mint, mintRequest(apiKey, applicationId, 100), minted),
    connections: 4,
    faultOf: (answer) => (answer.status === 201 ? null : quote(answer)),
  };
}
