import { typesOf } from '../outbox/types.ts';

/** Stands for all types, those of later versions included. */
const every = '*';

/** Whether a text is a type of events, `license.*` for all that begin with `license.`, or `*`. */
export const isTypePattern = (pattern: string): boolean => pattern === every || typesOf(pattern).length > 0;

/** What of a webhook decides which events it gets. */
export interface WebhookFilter {
  readonly types: readonly string[];
  readonly applicationId: string | null;
}

/** Whether a webhook gets an event. */
export function isWanted(
  { types, applicationId }: WebhookFilter,
  event: { readonly type: string; readonly applicationId: string | null },
): boolean {
  if (applicationId !== null && applicationId !== event.applicationId) return false;
  return types.some(
    (pattern) =>
      pattern === every ||
      pattern === event.type ||
      (pattern.endsWith('.*') && event.type.startsWith(pattern.slice(0, -1))),
  );
}
