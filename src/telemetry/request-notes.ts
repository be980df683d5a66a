/** How a request came in, as a label. A subscription's stream is apart, as it lasts for as long as its reader likes. */
export type Transport = 'rest' | 'graphql' | 'subscription' | 'sealed' | 'page' | 'health';

/**
 * What is known of a request, and may be told: the transports and the services fill in what they come to know, and the
 * log line is made of these fields and no others. So a secret gets into a log only through a field that is named here.
 */
export interface RequestNotes {
  readonly requestId: string;
  readonly method: string;
  transport: Transport;
  /** The pattern of the route, never the path that was asked for. */
  route: string;
  /** Code of an error, or the verdict of a sealed answer; null for what was simply done. */
  code: string | null;
  readonly ip: string | null;
  readonly country: string | null;
  /** As the client wrote it; the log has it in short. */
  readonly userAgent: string | undefined;
  developerId: string | null;
  /** The API key's id where one was sent; `session` for a cookie. Neither is good for anything. */
  credential: string | null;
  applicationId: string | null;
  /** Of GraphQL. */
  operation: string | null;
  operationKind: string | null;
}

/** The route of what none is there for. */
export const unmatched = 'unmatched';
