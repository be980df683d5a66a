import { z } from 'zod';
import { type HttpAnswer, httpRequest } from '../http-message.ts';
import { type Comparison, jsonOf, quote, type Scenario } from '../scenario.ts';
import type { Seed } from '../seed.ts';

/** Fifty licenses: as REST lists them, the same over GraphQL, and all that a dashboard's screen shows of them. */
const size = 50;
export const licenseScenarioNames = {
  rest: `REST: ${size} licenses`,
  same: `GraphQL: ${size} licenses, the same fields as REST`,
  screen: 'GraphQL: licenses screen',
  counted: 'GraphQL: licenses screen, with the count of all',
} as const;

const names = licenseScenarioNames;

export const licenseComparisons: readonly Comparison[] = [
  { measured: names.same, against: names.rest, of: 'cost' },
  { measured: names.screen, against: names.rest, of: 'cost' },
  { measured: names.counted, against: names.rest, of: 'cost' },
];

const sameFields = `query Licenses($id: ID!) {
  application(id: $id) {
    licenses(first: ${size}) {
      pageInfo { endCursor }
      edges {
        node {
          id keyPrefix status subscriptionTier durationSeconds activatedAt expiresAt hwid lastIp note
          noteCiphertextB64 createdAt updatedAt
          application { id }
        }
      }
    }
  }
}`;

/** REST's list does not count, so the screen that is compared with it does not either. */
const screen = (more = '') => `query LicensesScreen($id: ID!) {
  application(id: $id) {
    id name version status
    licenses(first: ${size}) {
      ${more}
      pageInfo { hasNextPage endCursor }
      edges {
        cursor
        node {
          id keyPrefix status subscriptionTier durationSeconds activatedAt expiresAt hwid lastIp note createdAt
          application { id name }
          users(first: 5) { edges { node { id username email lastIp } } }
          securityLog(first: 1) { edges { node { id event code ip createdAt } } }
        }
      }
    }
  }
}`;

export function licenseScenarios({ apiKey, applicationId }: Seed): Scenario[] {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const list = httpRequest({
    method: 'GET',
    path: `/api/v1/apps/${applicationId}/licenses?limit=${size}`,
    headers,
  });
  const graphql = (query: string) =>
    httpRequest({
      method: 'POST',
      path: '/graphql',
      headers,
      body: { query, variables: { id: applicationId } },
    });
  const sameRequest = graphql(sameFields);
  const screenRequest = graphql(screen());
  const countedRequest = graphql(screen('totalCount'));
  return [
    { name: names.rest, next: () => list, faultOf: restFault, closeFaultOf: closeFault(restPage) },
    { name: names.same, next: () => sameRequest, faultOf: graphqlFault, closeFaultOf: closeFault(samePage) },
    {
      name: names.screen,
      next: () => screenRequest,
      faultOf: graphqlFault,
      closeFaultOf: closeFault(screenPage),
    },
    {
      name: names.counted,
      next: () => countedRequest,
      faultOf: graphqlFault,
      closeFaultOf: closeFault(screenPage),
    },
  ];
}

const restFault = (answer: HttpAnswer): string | null => (answer.status === 200 ? null : quote(answer));

/** Inside of a JSON string the quotation marks would be escaped, so these bytes are a member's name. */
const errorsMember = Buffer.from('"errors":');
const graphqlFault = (answer: HttpAnswer): string | null =>
  answer.status === 200 && !answer.body.includes(errorsMember) ? null : quote(answer);

/** A license that is in use, as all of the page are. */
const license = z.object({
  id: z.string(),
  status: z.literal('active'),
  hwid: z.string(),
  lastIp: z.string(),
});
const edgesOf = (node: z.ZodType, amount: number) =>
  z.object({ edges: z.array(z.object({ node })).length(amount) });
const pageOf = (licenses: z.ZodType) => z.object({ data: z.object({ application: z.object({ licenses }) }) });

const restPage = z.object({ licenses: z.array(license).length(size), nextCursor: z.string() });
const samePage = pageOf(edgesOf(license, size));
const screenPage = pageOf(
  edgesOf(
    license.extend({
      users: edgesOf(z.object({ username: z.string() }), 1),
      securityLog: edgesOf(z.object({ event: z.enum(['license_validated', 'user_logged_in']) }), 1),
    }),
    size,
  ),
);

const closeFault =
  (page: z.ZodType) =>
  (answer: HttpAnswer): string | null => {
    const parsed = page.safeParse(jsonOf(answer));
    return parsed.success ? null : z.prettifyError(parsed.error).slice(0, 300);
  };
