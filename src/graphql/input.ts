import type { z } from 'zod';
import { ServiceError } from '../services/errors.ts';

/**
 * Checks an input against the schema that REST uses too. GraphQL lets an optional field be null, which says the same
 * as leaving it out, also in the objects of a list.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  return parseExactly(schema, withoutNulls(input));
}

/**
 * The same, where null says something.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function parseExactly<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw ServiceError.invalidInput(parsed.error.issues);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member)]],
    ),
  );
}
