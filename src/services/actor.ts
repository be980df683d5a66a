import type { DeveloperId } from '../lib/ids.ts';
import { ServiceError } from './errors.ts';

/** Who asks. What an actor may do is decided by the verbs, never by a transport. */
export type Actor =
  /** Nobody, or somebody whose credential was not good: which one it was makes the refusal readable. */
  | { readonly type: 'anonymous'; readonly rejected: 'cookie' | 'apiKey' | null }
  | { readonly type: 'developer'; readonly developerId: DeveloperId; readonly via: 'cookie' | 'apiKey' };

/**
 * The developer who asks.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function requireDeveloper(actor: Actor): DeveloperId {
  switch (actor.type) {
    case 'developer':
      return actor.developerId;
    case 'anonymous':
      throw new ServiceError('UNAUTHENTICATED', whyAnonymous(actor.rejected));
  }
}

function whyAnonymous(rejected: 'cookie' | 'apiKey' | null): string {
  switch (rejected) {
    case 'cookie':
      return 'The session has expired or been ended. Log in again.';
    case 'apiKey':
      return 'This API key does not exist or has been revoked.';
    case null:
      return 'Log in, or send an API key as "Authorization: Bearer service_live_…".';
  }
}
