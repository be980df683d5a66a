import type { MiddlewareHandler } from 'hono';
import type { RateLimitName } from '../../ephemeral/rate-limits.ts';
import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import type { RestContext, RestEnv } from '../adapter.ts';

/** A POST route of the client protocol. */
export interface ClientRoute {
  /** The whole path. */
  readonly pattern: string;
  /** A point of it is taken before the handler runs. */
  readonly limit: RateLimitName;
  /** Rejects a body that is too large. */
  readonly boundBody: MiddlewareHandler<RestEnv>;
  answer(c: RestContext): Promise<ClientAnswer>;
}

export interface ClientAnswer {
  readonly status: number;
  /** The media type of the body. */
  readonly type: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** The limit that the header fields tell, instead of the route's. */
  readonly reached?: RateLimitOutcome | null;
}
