import { expect, test } from 'vitest';
import { forFile, useServer } from '../setup/use-world.ts';
import { createGraphqlWorld, noLimits } from './support.ts';

/** A variable that no operation declares is refused by name: GraphQL by itself passes it over. */

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));

const mint = `mutation ($applicationId: ID!, $amount: Int! = 1) {
  createLicenses(input: { applicationId: $applicationId, amount: $amount, durationSeconds: 0 }) { warning }
}`;
const mintedIn = (applicationId: string) =>
  server.deps.services.database.prisma.license.count({ where: { applicationId } });

test('a misspelt variable is named, and nothing is done', async () => {
  const { id: applicationId } = await world.createApplication();
  const answer = await world.graphql.ask(mint, { applicationId, amonut: 5, tier: null });
  expect(answer.errors.map(({ message }) => message)).toEqual([
    expect.stringContaining('"$amonut" is not declared'),
    expect.stringContaining('"$tier" is not declared'),
  ]);
  expect(answer.codes).toEqual(['BAD_REQUEST', 'BAD_REQUEST']);
  expect(await mintedIn(applicationId)).toBe(0);
  expect((await world.graphql.ask(mint, { applicationId })).errors).toEqual([]);
  expect(await mintedIn(applicationId)).toBe(1);
});

test('a subscription is held to its variables too', async () => {
  const { id } = await world.createApplication();
  const query = `subscription { securityLog(applicationId: "${id}") { id } }`;
  const answer = await world.client
    .with({ headers: { Accept: 'text/event-stream' } })
    .post('/graphql', { query, variables: { after: id } });
  expect(String(answer.body)).toContain('$after');
  expect(String(answer.body)).toContain('BAD_REQUEST');
});

test('variables of another operation of the document are fine, as an editor sends them', async () => {
  const query = `query A($id: ID!) { application(id: $id) { id } } query B { me { id } }`;
  const body = { query, operationName: 'B', variables: { id: 'x' } };
  const answer = await world.client.post('/graphql', body);
  expect(answer.body).toEqual({ data: { me: { id: world.developer.id } } });
});

test('extensions in the request are fine', async () => {
  const body = { query: '{ me { id } }', variables: {}, extensions: { persistedQuery: 1, unheardOf: {} } };
  expect((await world.client.post('/graphql', body)).body).toEqual({
    data: { me: { id: world.developer.id } },
  });
});

test('names are as long and as many as the sender likes, and the answer is not', async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => [`v${index}${'x'.repeat(200)}`, 1]);
  const answer = await world.graphql.ask('{ me { id } }', Object.fromEntries(names));
  expect(answer.errors).toHaveLength(20);
  expect(JSON.stringify(answer.answer.body).length).toBeLessThan(10_000);
});
