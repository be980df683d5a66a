import type { DeveloperId } from '../lib/ids.ts';
import { ServiceError } from './errors.ts';

/** Who asks. What an actor may do is decided by the verbs, never by a transport. */
export type Actor =
  | { readonly type: 'anonymous' }
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
      throw new ServiceError(
        'UNAUTHENTICATED',
        'Log in, or send an API key as "Authorization: Bearer service_live_…".',
      );
  }
}
