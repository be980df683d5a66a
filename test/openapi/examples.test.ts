import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerSchema, contract, faultsOf, requestSchema, routes } from './contract.ts';

const json = z.looseObject({
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.looseObject({ code: z.string() }) })).optional(),
});
const jsonOf = (holder: unknown) =>
  z.object({ content: z.object({ 'application/json': json }) }).parse(holder).content['application/json'];

test.each(routes)('$operationId has examples that fit its schemas', (route) => {
  if (route.requestBody !== undefined) {
    expect(faultsOf(jsonOf(route.requestBody).example, requestSchema(route)), 'request').toEqual([]);
  }
  const status = Object.keys(route.responses).find((code) => code.startsWith('2')) ?? '';
  const schema = answerSchema(route, Number(status)) ?? '';
  expect(faultsOf(jsonOf(route.responses[status]).example, schema), 'answer').toEqual([]);
});

/** Every failure that is documented: those that routes share, and those that stay with one. */
const shared = Object.entries(contract.components.responses).map(([name, failure]) => ({
  name,
  failure,
  schema: `components/responses/${name}/content/application~1json/schema`,
}));
const ofOne = routes.flatMap((route) =>
  Object.entries(route.responses)
    .filter(([status, failure]) => Number(status) >= 400 && failure.$ref === undefined)
    .map(([status, failure]) => ({
      name: `${status} of ${route.operationId}`,
      failure,
      schema: answerSchema(route, Number(status)) ?? '',
    })),
);

test.each([...shared, ...ofOne])('the failure $name has an example of each code', ({ failure, schema }) => {
  const { examples = {} } = jsonOf(failure);
  const codes = /: ([A-Z_, ]+)$/.exec(z.object({ description: z.string() }).parse(failure).description)?.[1];
  expect(Object.keys(examples)).toEqual(codes?.split(', '));
  for (const [code, { value }] of Object.entries(examples)) {
    expect(value.code).toBe(code);
    expect(faultsOf(value, schema), code).toEqual([]);
  }
});

test('a value that does not fit is noticed, and so is a member that no schema names', () => {
  const schema = 'components/schemas/Developer';
  const developer = {
    id: '019b2c6e-7d1a-7c3f-9d55-0f6f1c2b3a01',
    email: 'ada@example.com',
    name: 'Ada',
    keyCreationMode: 'default',
    licenseMask: null,
    createdAt: '2026-01-26T09:00:00.000Z',
  };
  expect(faultsOf(developer, schema)).toEqual([]);
  expect(faultsOf({ ...developer, createdAt: 'monday' }, schema)).not.toEqual([]);
  expect(faultsOf({ ...developer, passwordHash: 'x' }, schema)).not.toEqual([]);
});
