import { expect } from 'vitest';
import { z } from 'zod';
import type { ApiClient } from '../setup/api-client.ts';
import { ApiClient as Api } from '../setup/api-client.ts';
import { dataOf, type GraphqlAnswer, GraphqlClient } from '../setup/graphql-client.ts';
import type { TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { MeDocument } from './generated/graphql.ts';

/** Limits so high that a table of requests never meets them. */
export const noLimits = {
  RATE_LIMITS: 'auth=100000,appCreate=100000,licenseCreate=100000,apiKeyAuth=100000,webhookSend=100000',
};

/** What extensions may hold beside the code. */
export interface MoreOfError {
  readonly issues?: unknown;
  readonly requestId?: unknown;
}

/** Holds an answer to one execution error of this code, with nothing else in its extensions, and HTTP 200. */
export function expectRefused(answer: GraphqlAnswer<unknown>, code: string, more: MoreOfError = {}): void {
  expect({ status: answer.status, extensions: answer.errors.map((error) => error.extensions) }).toEqual({
    status: 200,
    extensions: [{ code, ...more }],
  });
  expect(answer.errors[0]?.message).not.toBe('');
}

const issueList = z.array(
  z.strictObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string().min(1) }),
);

/** Holds an answer to VALIDATION_FAILED with issues at these places and no other. */
export function expectIssues(
  answer: GraphqlAnswer<unknown>,
  paths: readonly (readonly (string | number)[])[],
) {
  expectRefused(answer, 'VALIDATION_FAILED', { issues: expect.any(Array) });
  const issues = issueList.parse(answer.errors[0]?.extensions.issues);
  expect(new Set(issues.map(({ path }) => path.join('.')))).toEqual(
    new Set(paths.map((path) => path.join('.'))),
  );
}

/** Holds an answer to a refusal of the request itself: nothing was executed. */
export function expectBadRequest(answer: GraphqlAnswer<unknown>, code: string, status = 200): void {
  expect(answer.data).toBeUndefined();
  expect(answer.status, JSON.stringify(answer.answer.body)).toBe(status);
  expect(new Set(answer.errors.map((error) => JSON.stringify(error.extensions)))).toEqual(
    new Set([JSON.stringify({ code })]),
  );
}

export interface GraphqlWorld extends World {
  readonly graphql: GraphqlClient;
}

/** A developer of this test's own, with a GraphQL client logged in by cookie. */
export async function createGraphqlWorld(server: TestServer): Promise<GraphqlWorld> {
  const world = await createWorld(server);
  return { ...world, graphql: new GraphqlClient(world.client) };
}

/** A client that nobody is logged in with, from an address of its own. */
export const visitor = (server: TestServer): GraphqlClient => new GraphqlClient(new Api(server.baseUrl));

const createdKey = z.object({ key: z.object({ id: z.string(), apiKey: z.string() }) });

/** Makes an API key over REST. */
export async function createApiKey(client: ApiClient): Promise<{ id: string; apiKey: string }> {
  const answer = await client.post('/api/v1/account/api-keys', { name: 'ci' });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return createdKey.parse(answer.body).key;
}

/** The id of the developer whom the client's credentials name. */
export async function whoAmI(client: GraphqlClient): Promise<string | undefined> {
  return dataOf(await client.request(MeDocument)).me?.id;
}

/** The payload of a mutation that succeeded. */
export function payloadOf<Data, Field extends keyof Data>(
  answer: GraphqlAnswer<Data>,
  field: Field,
): NonNullable<Data[Field]> {
  const payload = dataOf(answer)[field];
  if (payload === null || payload === undefined) throw new Error(`${String(field)} is null`);
  return payload;
}

/** A UUID that names nothing. */
export const nobodysId = '019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a4d';

/** Texts that no service string may hold. */
export const illFormedTexts = [
  ['NUL', 'a\0b'],
  ['a lone high surrogate', 'a\ud800b'],
  ['a lone low surrogate', '\udc00'],
] as const;
