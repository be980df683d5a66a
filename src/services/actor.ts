import type { DeveloperId } from '../lib/ids.ts';
import { ServiceError } from './errors.ts';

/** Who asks. What an actor may do is decided by the verbs, never by a transport. */
export type Actor =
  /** Nobody, or somebody whose credential was not good: which one it was makes the refusal readable. */
  { readonly type: 'anonymous'; readonly rejected: 'cookie' | 'apiKey' | null } | DeveloperActor;

/** A developer, and what is needed to tell when the credential that came with the request has ended. */
export type DeveloperActor =
  | {
      readonly type: 'developer';
      readonly developerId: DeveloperId;
      readonly via: 'cookie';
      /** The developer's, as the cookie has it. */
      readonly sessionVersion: number;
      /** Milliseconds since the Unix epoch. */
      readonly expiresAt: number;
      /** Names the session without being good for it. */
      readonly tokenHash: string;
    }
  | {
      readonly type: 'developer';
      readonly developerId: DeveloperId;
      readonly via: 'apiKey';
      readonly apiKeyId: string;
    };

/**
 * The developer who asks.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function requireDeveloper(actor: Actor): DeveloperId {
  return requireDeveloperActor(actor).developerId;
}

/**
 * The developer who asks, with the credential.
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

/** The refusal of nobody, or of somebody whose credential is not good, or not any more. */
export const unauthenticated = (rejected: 'cookie' | 'apiKey' | null) =>
  new ServiceError('UNAUTHENTICATED', whyAnonymous(rejected));

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

/** Whether a session cookie says who asks. */
export const isByCookie = (actor: Actor): boolean => actor.type === 'developer' && actor.via === 'cookie';
