import { expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { useServer } from '../setup/use-world.ts';

const server = useServer();

const ask = (query: string) => new GraphqlClient(new ApiClient(server.baseUrl)).ask(query);
/** Nested field names, repeated, with all braces closed. */
const nested = (root: string, path: readonly string[], times: number): string => {
  const names = [root, ...Array.from({ length: times }, () => path).flat()];
  return `{ ${names.join(' { ')} { name ${'} '.repeat(names.length + 1)}`;
};

test.each([
  ['types of fields of types', nested('__schema { types', ['fields', 'type'], 6)],
  ['possible types in interfaces', nested('__type(name: "Node")', ['possibleTypes', 'interfaces'], 6)],
  ['input fields in input fields', nested('__schema { types', ['inputFields', 'type'], 6)],
])('%s are not multiplied for nobody', async (_what, query) => {
  const open = query.split('{').length - query.split('}').length;
  const answer = await ask(query + ' }'.repeat(open));
  expect(answer.data).toBeUndefined();
  expect(answer.codes.length).toBeGreaterThan(0);
  expect(answer.codes).not.toContain('INTERNAL');
  expect(JSON.stringify(answer.answer.body).length).toBeLessThan(5_000);
});

test('introspection returns only the schema, with a bounded size', async () => {
  const answer = await ask('{ __schema { types { name fields { name args { name } } } } }');
  expect(answer.errors).toEqual([]);
  expect(JSON.stringify(answer.data).length).toBeLessThan(200_000);
});

test('suggestions for a misspelt name reveal nothing beyond introspection', async () => {
  const { answer } = await ask('{ mee { id passwordHash } }');
  expect(JSON.stringify(answer.body)).not.toMatch(/password_hash|private_key|prisma/i);
});
