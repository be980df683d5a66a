import type { z } from 'zod';
import { ServiceError } from '../services/errors.ts';

/**
 * Checks an input against the schema that REST uses too. GraphQL lets an optional field be null, which says the same
 * as leaving it out.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: object): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw ServiceError.invalidInput(parsed.error.issues);
}
