import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { z } from 'zod';

/** The parts of a JSON schema that the attacks use. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly items?: Schema | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    format: z.string().optional(),
    pattern: z.string().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minItems: z.number().optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
  }),
);
const parameter = z.object({
  $ref: z.string().optional(),
  name: z.string().optional(),
  in: z.string().optional(),
});
const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        security: z.array(z.unknown()).optional(),
        parameters: z.array(parameter).default([]),
        requestBody: z.object({ content: z.object({ 'application/json': z.object({ schema }) }) }).optional(),
      }),
    ),
  ),
  components: z.object({
    schemas: z.record(z.string(), schema),
    parameters: z.record(z.string(), parameter).default({}),
  }),
});
const { paths, components } = document.parse(
  JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')),
);

const last = (reference: string): string => reference.split('/').at(-1) ?? '';

/** A route of the committed contract, so that new routes are attacked too. */
export interface ContractRoute {
  readonly operationId: string;
  readonly method: string;
  /** The path in the contract, relative to `/api/v1`. */
  readonly path: string;
  readonly isOpen: boolean;
  readonly query: readonly string[];
  readonly body: Schema | null;
}

export const contractRoutes: readonly ContractRoute[] = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, { operationId, security = [], parameters, requestBody }]) => ({
    operationId,
    method: method.toUpperCase(),
    path,
    isOpen: security.length === 0,
    query: parameters
      .map((found) => (found.$ref === undefined ? found : (components.parameters[last(found.$ref)] ?? found)))
      .flatMap((found) => (found.in === 'query' && found.name !== undefined ? [found.name] : [])),
    body: requestBody?.content['application/json'].schema ?? null,
  })),
);

/** A schema, or the one that it refers to. */
export const resolve = (found: Schema): Schema =>
  found.$ref === undefined ? found : (components.schemas[last(found.$ref)] ?? {});

/** The paths of all texts in a body, as member names and indexes. */
export function textPlaces(
  found: Schema,
  at: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  const { type, properties, items } = resolve(found);
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, member]) => textPlaces(member, [...at, name]));
  if (items !== undefined) return textPlaces(items, [...at, 0]);
  return type === 'string' || (Array.isArray(type) && type.includes('string')) ? [at] : [];
}

/** Values of this shape. Members in `known` have one of the given values, so that bodies refer to existing data. */
export function valuesOf(
  found: Schema,
  known: Readonly<Record<string, readonly unknown[]>>,
  name = '',
): fc.Arbitrary<unknown> {
  const shape = resolve(found);
  const values = known[name];
  if (values !== undefined) return fc.constantFrom(...values);
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  const type = typeof shape.type === 'string' ? shape.type : (shape.type?.[0] ?? 'object');
  switch (type) {
    case 'string':
      return textsOf(shape);
    case 'integer':
      return fc.integer({
        min: shape.minimum ?? 0,
        max: Math.min(shape.maximum ?? 100, (shape.minimum ?? 0) + 20),
      });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf(shape.items ?? {}, known), { minLength: shape.minItems ?? 1, maxLength: 2 });
    default: {
      const members = Object.entries(shape.properties ?? {}).map(
        ([member, inner]): [string, fc.Arbitrary<unknown>] => [member, valuesOf(inner, known, member)],
      );
      const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(members);
      return fc.record(model, { requiredKeys: [...(shape.required ?? [])] });
    }
  }
}

function textsOf({ format, pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (format === 'email') return fc.emailAddress();
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) });
}
