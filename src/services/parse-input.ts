import type { z } from 'zod';
import { ServiceError } from './errors.ts';

/**
 * Parses the input of a verb. Each verb with more input than ids calls it first, after it has checked who asks, so that
 * no transport can forget it.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw ServiceError.invalidInput(parsed.error.issues);
}
