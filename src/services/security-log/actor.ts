import type { RecordingActor } from '../actor.ts';

export const actorKinds = ['session', 'api_key', 'client', 'operator', 'system'] as const;
export type ActorKind = (typeof actorKinds)[number];

/** Who caused an entry. */
export interface LoggedActor {
  readonly kind: ActorKind;
  /** Of the session or the API key; null for all others, and for a session of the version before sessions. */
  readonly id: string | null;
  /** Of the developer or the API key at that time; null for all others. */
  readonly name: string | null;
}

/** The actor's columns of an entry. */
export interface ActorColumns {
  readonly actorKind: ActorKind | null;
  readonly actorId: string | null;
  readonly actorName: string | null;
}

/** A developer in the dashboard, whose session begins, or who is not known. @param name null if anyone may have been it */
export const someoneInDashboard = (name: string | null, sessionId: string | null): LoggedActor => ({
  kind: 'session',
  id: sessionId,
  name,
});

/** The entry's actor, if it is who sent the request. Whoever has no credential is client software. */
export function loggedActor(actor: RecordingActor): LoggedActor {
  switch (actor.type) {
    case 'developer':
      return actor.via === 'cookie'
        ? { kind: 'session', id: actor.sessionId, name: actor.name }
        : { kind: 'api_key', id: actor.apiKeyId, name: actor.name };
    case 'anonymous':
      return { kind: 'client', id: null, name: null };
    case 'operator':
    case 'system':
      return { kind: actor.type, id: null, name: null };
  }
}

export const actorColumns = ({ kind, id, name }: LoggedActor): ActorColumns => ({
  actorKind: kind,
  actorId: id,
  actorName: name,
});

/** Null in entries from before actors were recorded. */
export const actorOfEntry = ({ actorKind, actorId, actorName }: ActorColumns): LoggedActor | null =>
  actorKind === null ? null : { kind: actorKind, id: actorId, name: actorName };
