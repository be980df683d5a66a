import { ApiError } from './api-error.ts';

/** What is wrong with one member of an input; null if nothing, or nothing is known. */
export function issueFor(error: unknown, ...path: readonly string[]): string | null {
  if (!(error instanceof ApiError)) return null;
  const issue = error.issues.find((candidate) => path.every((name, index) => candidate.path[index] === name));
  return issue?.message ?? null;
}
