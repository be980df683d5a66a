import type { ServiceContext } from '../services/context.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';

/** The context of a request's resolvers. */
export interface GraphqlContext {
  /** The request as the verbs see it. After a login, its actor is the developer who logged in. */
  service: ServiceContext;
  readonly requestId: string;
  /** For the request's log line. */
  readonly notes: RequestNotes;
  readonly session: SessionCookie;
  /** The request's Idempotency-Key; null without one. */
  readonly idempotencyKey: string | null;
  /** Called when a mutation has the result of an earlier request. */
  readonly replayed: () => void;
  /** Closes the connection in the middle of the answer. */
  breakOff(): void;
}

/** The dashboard's session cookie, which the HTTP application sets on the answer. */
export interface SessionCookie {
  /** The value that came with the request; null without a cookie. */
  readonly token: string | null;
  start(token: string): void;
  end(): void;
}
