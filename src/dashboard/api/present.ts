/** A root field, which is null only together with an error: then nothing of the answer was returned. */
export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('The service left out a part of its answer.');
  return value;
}
