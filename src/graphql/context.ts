import type { ServiceContext } from '../services/context.ts';

/** What resolvers get beside their arguments. */
export interface GraphqlContext {
  /** The request as the service verbs see it. */
  readonly service: ServiceContext;
  readonly requestId: string;
  readonly session: SessionCookie;
}

/** The dashboard's cookie, which the transport around GraphQL sets on the answer. */
export interface SessionCookie {
  /** Its value, as it came with the request; null without one. */
  readonly token: string | null;
  start(token: string): void;
  end(): void;
}
