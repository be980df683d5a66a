/** A request's transport, as a metric label. Subscription streams are separate, as they last arbitrarily long. */
export type Transport = 'rest' | 'graphql' | 'subscription' | 'sealed' | 'page' | 'health';

/**
 * What may be logged about a request. Transports and services fill in fields as they learn them, and the log line
 * contains only these fields. So a secret could reach the log only through a field that is named here.
 */
export interface RequestNotes {
  readonly requestId: string;
  readonly method: string;
  transport: Transport;
  /** The route pattern, never the requested path. */
  route: string;
  /** An error code or the verdict of a sealed response; null for other successful requests. */
  code: string | null;
  readonly ip: string | null;
  readonly country: string | null;
  /** As sent by the client; sanitized and truncated when logged. */
  readonly userAgent: string | undefined;
  developerId: string | null;
  /** The id of the API key, or `session` for a cookie. Neither grants access. */
  credential: string | null;
  applicationId: string | null;
  /** Name of the GraphQL operation. */
  operation: string | null;
  operationKind: string | null;
}

/** Route label of requests that match no route. */
export const unmatched = 'unmatched';
