import { describe, expect, test } from 'vitest';
import { readAnswer } from '../setup/graphql-client.ts';
import { forFile, useServer } from '../setup/use-world.ts';
import { createGraphqlWorld, noLimits } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));

const makeKey = 'mutation ($name: String!) { createApiKey(input: { name: $name }) { apiKey key { name } } }';
const sendWith = async (accept: string, name: string) =>
  readAnswer(
    await world.client
      .with({ headers: { Accept: accept } })
      .post('/graphql', { query: makeKey, variables: { name } }),
  );
const keyNames = async () =>
  JSON.stringify(
    (await world.graphql.ask('{ me { account { apiKeys { edges { node { name } } } } } }')).data,
  );

describe('a client that accepts no supported media type', () => {
  test.each([
    'text/html',
    'text/csv',
    'image/png, text/plain;q=0.8',
    'multipart/mixed',
    'application/json; charset=iso-8859-1',
  ])('is told so before anything is carried out: %s', async (accept) => {
    const name = `for ${accept}`;
    const answer = await sendWith(accept, name);
    expect(answer.status).toBe(406);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.codes).toEqual(['NOT_ACCEPTABLE']);
    expect(answer.errors[0]?.message).toMatch(/application\/json .* Accept/);
    expect(await keyNames()).not.toContain(name);
  });

  test('gets the same error for a subscription and for a query by GET', async () => {
    const client = world.client.with({ headers: { Accept: 'multipart/mixed' } });
    const { id } = await world.createApplication();
    const query = `subscription { securityLog(applicationId: "${id}") { id } }`;
    expect(readAnswer(await client.post('/graphql', { query })).codes).toEqual(['NOT_ACCEPTABLE']);
    const byGet = await client.get(`/graphql?${new URLSearchParams({ query: '{ me { id } }' })}`);
    expect(readAnswer(byGet).codes).toEqual(['NOT_ACCEPTABLE']);
  });
});

test.each([
  '*/*',
  'application/*',
  'text/html, */*;q=0.1',
  'Application/JSON; charset=UTF-8',
  'application/graphql-response+json, application/json;q=0.9',
  'multipart/mixed;deferSpec=20220824, application/json',
])('who accepts one of them gets an answer: %s', async (accept) => {
  const name = `for ${accept}`;
  const answer = await sendWith(accept, name);
  expect(answer.status).toBe(200);
  expect(answer.codes).toEqual([]);
  expect(await keyNames()).toContain(name);
});
