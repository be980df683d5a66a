import type { DeveloperId } from '../lib/ids.ts';
import { ServiceError } from './errors.ts';

/** The caller of a verb. Verbs, never transports, decide what an actor may do. */
export type Actor =
  /** No credential, or an invalid one. `rejected` names it, for the error message. */
  { readonly type: 'anonymous'; readonly rejected: 'cookie' | 'apiKey' | null } | DeveloperActor;

/** A developer, with the data needed to notice that the request's credential has expired or been revoked. */
export type DeveloperActor =
  | {
      readonly type: 'developer';
      readonly developerId: DeveloperId;
      readonly via: 'cookie';
      /** The developer's session version when the cookie was issued. */
      readonly sessionVersion: number;
      /** Milliseconds since the Unix epoch. */
      readonly expiresAt: number;
      /** Identifies the session without granting access to it. */
      readonly tokenHash: string;
    }
  | {
      readonly type: 'developer';
      readonly developerId: DeveloperId;
      readonly via: 'apiKey';
      readonly apiKeyId: string;
    };

/**
 * Returns the authenticated developer's id.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function requireDeveloper(actor: Actor): DeveloperId {
  return requireDeveloperActor(actor).developerId;
}

/**
 * Returns the authenticated developer with their credential.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function requireDeveloperActor(actor: Actor): DeveloperActor {
  switch (actor.type) {
    case 'developer':
      return actor;
    case 'anonymous':
      throw unauthenticated(actor.rejected);
  }
}

/** The error for a missing, invalid or expired credential. */
export const unauthenticated = (rejected: 'cookie' | 'apiKey' | null) =>
  new ServiceError('UNAUTHENTICATED', whyAnonymous(rejected));

function whyAnonymous(rejected: 'cookie' | 'apiKey' | null): string {
  switch (rejected) {
    case 'cookie':
      return 'The session has expired or was ended. Log in again.';
    case 'apiKey':
      return 'This API key does not exist or has been revoked.';
    case null:
      return 'Log in, or send an API key as "Authorization: Bearer service_live_…".';
  }
}

/** Whether the actor authenticated with a session cookie. */
export const isByCookie = (actor: Actor): boolean => actor.type === 'developer' && actor.via === 'cookie';
