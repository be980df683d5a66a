import type { DeveloperId } from '../lib/ids.ts';
import { ServiceError } from './errors.ts';
import { isAboutAccount, readScopes, type Scope } from './scopes.ts';

/** The caller of a verb. Verbs, never transports, decide what an actor may do. */
export type Actor =
  /** No credential, or an invalid one. `rejected` names it, for the error message. */
  { readonly type: 'anonymous'; readonly rejected: Rejection | null } | DeveloperActor;

/** Who causes an entry of the security log: the caller of a verb, or nobody who sent a request. */
export type RecordingActor = Actor | { readonly type: 'operator' | 'system' };

/** A credential that was refused, and why. */
export type Rejection = 'cookie' | 'apiKey' | 'expiredApiKey' | 'apiKeyAddress';

/** A developer, with the data needed to notice that the request's credential has expired or been revoked. */
export type DeveloperActor = CookieActor | ApiKeyActor;

interface CookieActor {
  readonly type: 'developer';
  readonly developerId: DeveloperId;
  readonly via: 'cookie';
  /** The developer's name, for the log. */
  readonly name: string;
  /** The id of the session; null with a cookie of the version before sessions. */
  readonly sessionId: string | null;
  /** The developer's session version when the cookie was issued. */
  readonly sessionVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  /** Identifies the session without granting access to it. */
  readonly tokenHash: string;
}

/** An API key, as it was when the request began. */
export interface ApiKeyActor {
  readonly type: 'developer';
  readonly developerId: DeveloperId;
  readonly via: 'apiKey';
  readonly apiKeyId: string;
  /** The key's name, for the log. */
  readonly name: string;
  /** The hash of the token that was sent: the current one, or the one before the last rotation. */
  readonly keyHash: Uint8Array;
  /** As stored: `readScopes` parses them. */
  readonly scopes: readonly string[];
  /** The only application that it opens; null: all, and the account. */
  readonly applicationId: string | null;
  /** As stored; none: any address. */
  readonly allowedCidrs: readonly string[];
}

/**
 * Returns the authenticated developer's id. Every verb calls this, or `requireOwnApplication`, with the scopes that it
 * needs.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export function requireDeveloper(actor: Actor, ...needed: readonly [Scope, ...Scope[]]): DeveloperId {
  return requireDeveloperActor(actor, ...needed).developerId;
}

/**
 * Returns the authenticated developer with their credential.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export function requireDeveloperActor(actor: Actor, ...needed: readonly [Scope, ...Scope[]]): DeveloperActor {
  const developer = requireAuthenticated(actor);
  for (const scope of needed) requireScope(developer, scope);
  return developer;
}

/**
 * Returns the authenticated developer's id, for a verb about the whole account.
 * @throws {ServiceError} UNAUTHENTICATED; INSUFFICIENT_SCOPE also for a key that is for one application
 */
export function requireWholeAccount(actor: Actor, scope: Scope): DeveloperId {
  const developer = requireDeveloperActor(actor, scope);
  if (applicationOf(developer) !== null) throw onlyOneApplication(scope);
  return developer.developerId;
}

/**
 * Returns the caller, whatever they may do. For transports, and for conditions that only say whose rows are read.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function requireAuthenticated(actor: Actor): DeveloperActor {
  switch (actor.type) {
    case 'developer':
      return actor;
    case 'anonymous':
      throw unauthenticated(actor.rejected);
  }
}

/** The only application that a caller may see and change; null for all of the developer's. */
export const applicationOf = (actor: DeveloperActor): string | null =>
  actor.via === 'apiKey' ? actor.applicationId : null;

function requireScope(actor: DeveloperActor, scope: Scope): void {
  if (actor.via === 'cookie') return;
  if (!readScopes(actor.scopes).includes(scope)) {
    throw new ServiceError('INSUFFICIENT_SCOPE', `This API key does not have the scope ${scope}.`);
  }
  if (actor.applicationId !== null && isAboutAccount(scope)) throw onlyOneApplication(scope);
}

const onlyOneApplication = (scope: Scope) =>
  new ServiceError(
    'INSUFFICIENT_SCOPE',
    `This API key is for one application. This needs the scope ${scope} for the whole account.`,
  );

/** The error for a missing, invalid or expired credential. */
export const unauthenticated = (rejected: Rejection | null) =>
  new ServiceError('UNAUTHENTICATED', whyAnonymous(rejected));

function whyAnonymous(rejected: Rejection | null): string {
  switch (rejected) {
    case 'cookie':
      return 'The session has expired or was ended. Log in again.';
    case 'apiKey':
      return 'This API key does not exist or has been revoked.';
    case 'expiredApiKey':
      return 'This API key has expired, or was replaced by a newer token.';
    case 'apiKeyAddress':
      return 'This API key may not be used from this address.';
    case null:
      return 'Log in, or send an API key as "Authorization: Bearer service_live_…".';
  }
}

/** Whether the actor authenticated with a session cookie. */
export const isByCookie = (actor: Actor): boolean => actor.type === 'developer' && actor.via === 'cookie';
