import type { ServiceContext } from '../services/context.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';

/** What resolvers get beside their arguments. */
export interface GraphqlContext {
  /** The request as the service verbs see it. After a login it is that of the developer who logged in. */
  service: ServiceContext;
  readonly requestId: string;
  /** What the request's log line says of it. */
  readonly notes: RequestNotes;
  readonly session: SessionCookie;
  /** Ends the connection as it stands, in the middle of the answer. */
  breakOff(): void;
}

/** The dashboard's cookie, which the transport around GraphQL sets on the answer. */
export interface SessionCookie {
  /** Its value, as it came with the request; null without one. */
  readonly token: string | null;
  start(token: string): void;
  end(): void;
}
