import { issueFor } from './issue-for.ts';

/** The error to show above a form: null if it is shown at one of these fields. */
export const formError = <Thrown>(error: Thrown, ...members: readonly string[]): Thrown | null =>
  members.some((member) => issueFor(error, member) !== null) ? null : error;
