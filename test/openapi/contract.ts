import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';

const schemaHolder = z.object({
  description: z.string().optional(),
  content: z.record(z.string(), z.looseObject({})).optional(),
});
const operation = z.object({
  operationId: z.string(),
  description: z.string().optional(),
  parameters: z.array(z.unknown()).default([]),
  security: z.array(z.unknown()).optional(),
  requestBody: schemaHolder.optional(),
  responses: z.record(z.string(), z.looseObject({ $ref: z.string().optional() })),
});
export type Operation = z.infer<typeof operation>;
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), schemaHolder),
  }),
});

/** The committed document. */
export const contract = documentShape.parse(
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')),
);

export interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Every operation of the document. */
export const routes: readonly Route[] = Object.entries(contract.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, found]) => ({ method: method.toUpperCase(), path, ...found })),
);

const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

/** Where the schema of a route's request is. */
export const requestSchema = ({ path, method }: Route) =>
  pointer('paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema');

/** Where the schema of a route's answer with this status is; undefined when the document has no such answer. */
export function answerSchema(route: Route, status: number): string | undefined {
  const answer = route.responses[status];
  if (answer === undefined) return undefined;
  const at =
    answer.$ref === undefined
      ? pointer('paths', route.path, route.method.toLowerCase(), 'responses', String(status))
      : answer.$ref.replace('#/', '');
  return `${at}/${pointer('content', 'application/json', 'schema')}`;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(z.looseObject({}).parse(closed(contract, [])), 'openapi.json');

/** What is wrong with a value, by the schema at this place of the document; an undocumented member is wrong too. */
export function faultsOf(value: unknown, schema: string): readonly ErrorObject[] {
  const validate = ajv.compile({ $ref: `openapi.json#/${schema}` });
  return validate(value) ? [] : (validate.errors ?? []);
}

/**
 * The document with every object schema closed to members that it does not name. A schema that others build on with
 * `allOf` cannot be: it would refuse what they add.
 */
function closed(node: unknown, at: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((item, index) => closed(item, [...at, String(index)]));
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node).map(([key, value]) => [key, closed(value, [...at, key])]);
  const copy = Object.fromEntries(members);
  const partOfAnother = at.at(-2) === 'allOf' || (at.at(-2) === 'schemas' && isExtended(at.at(-1) ?? ''));
  const isOpen = 'properties' in node && 'type' in node && !('additionalProperties' in node);
  if ('allOf' in node) return { ...copy, unevaluatedProperties: false };
  return isOpen && !partOfAnother ? { ...copy, additionalProperties: false } : copy;
}

function isExtended(name: string): boolean {
  return JSON.stringify(contract).includes(`"allOf":[{"$ref":"#/components/schemas/${name}"}`);
}
