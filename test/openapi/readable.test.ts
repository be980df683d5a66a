import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contract, routes } from './contract.ts';

/** What generators make of the document: a comment and a type an operation, a type a component. */

const readable = /^[A-Z][a-z0-9]*(?:[A-Z][a-z0-9]+)*$/;
const long = 30;

describe('every operation', () => {
  test.each(routes)('$operationId has a description', ({ description }) => {
    expect(description).toMatch(/^[A-Z`].*\.$/s);
  });
});

describe('every name of a component', () => {
  const { schemas, responses } = contract.components;
  test.each([...Object.keys(schemas), ...Object.keys(responses)])('%s can be read', (name) => {
    expect(name).toMatch(readable);
    expect(name.length).toBeLessThanOrEqual(long);
  });
});

describe('every identifier', () => {
  /** Named like identifiers, and none: a ticket of the client protocol, and what a caller may choose. */
  const others = new Set(['sessionId', 'requestId']);
  const isId = (name: string) => /(?:^id|Id)$/.test(name) && !others.has(name);

  /** Each member of this document that is an identifier by its name, with where it is. */
  function idsIn(node: unknown, at: string): [string, unknown][] {
    if (typeof node !== 'object' || node === null) return [];
    const found = Object.entries(node).flatMap(([key, value]) => idsIn(value, `${at}/${key}`));
    const members = z.object({ properties: z.record(z.string(), z.unknown()) }).safeParse(node)
      .data?.properties;
    const ids = Object.entries(members ?? {}).filter(([name]) => isId(name));
    return [...ids.map(([name, schema]): [string, unknown] => [`${at}/${name}`, schema]), ...found];
  }

  test('of a body or an answer has its format', () => {
    const ids = idsIn(contract, '');
    expect(ids.length).toBeGreaterThan(20);
    for (const [where, schema] of ids) expect(JSON.stringify(schema), where).toContain('"format":"uuid"');
  });

  /** Header fields, which all routes share. */
  const reference = z.strictObject({ $ref: z.string() });
  const parameters = z.array(z.looseObject({ name: z.string(), in: z.string(), schema: z.looseObject({}) }));
  test.each(routes.filter(({ path }) => path.includes('{')))(
    'in the path of $operationId has its format',
    (route) => {
      const own = route.parameters.filter((parameter) => !reference.safeParse(parameter).success);
      const inPath = parameters.parse(own).filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(route.path.match(/\{\w+\}/g));
      for (const { schema } of inPath) expect(schema).toMatchObject({ type: 'string', format: 'uuid' });
    },
  );
});
