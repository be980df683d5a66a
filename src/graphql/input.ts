import type { InputRef } from '@pothos/core';
import { builder } from './builder.ts';

/** Options of a mutation that has an input. Like all root fields it is nullable: its failure does not affect the others. */
export const withInput = <Shape>(type: InputRef<Shape>, description: string) => ({
  nullable: true as const,
  args: builder.args((t) => ({ input: t.field({ type, required: true, description }) })),
});

/** An input without nulls, at any depth. */
export type WithoutNulls<Input> = Input extends Date | readonly never[]
  ? Input
  : Input extends readonly (infer Item)[]
    ? WithoutNulls<Item>[]
    : Input extends object
      ? { [Name in keyof Input]: WithoutNulls<Exclude<Input[Name], null>> }
      : Exclude<Input, null>;

/**
 * Leaves out the members of an input that are null. GraphQL lets every optional member be null, which means the same as
 * leaving it out; the verbs refuse null, as REST does.
 */
export function withoutNulls<Input extends object>(input: Input): WithoutNulls<Input> {
  // The one place that says so: no type follows what `strip` does.
  return strip(input) as WithoutNulls<Input>;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, strip(member)]])),
  );
}
