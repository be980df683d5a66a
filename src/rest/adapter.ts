import type { Context } from 'hono';
import type { Actor } from '../services/actor.ts';
import type { ClientOrigin } from '../services/client-origin.ts';
import type { ServiceContext, ServiceEnvironment } from '../services/context.ts';
import type { Idempotency } from '../services/idempotency.ts';
import { RequestWork } from '../services/request-work.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';

/** Values that middleware sets for the handlers. */
export interface RestEnv {
  Variables: {
    requestId: string;
    env: ServiceEnvironment;
    client: ClientOrigin;
    notes: RequestNotes;
    /** Set by `originGuard` when a foreign page sends an unsafe request with an API key. */
    foreignOrigin: string | undefined;
    /** Set by `identify`; when unset, the request is anonymous. */
    actor: Actor | undefined;
    /** Set by `withIdempotencyKey` if the request is a change with an Idempotency-Key. */
    idempotency: Idempotency | undefined;
  };
}

export type RestContext = Context<RestEnv>;

/** The request as a service verb sees it. */
export function serviceContext(c: RestContext): ServiceContext {
  const idempotency = c.get('idempotency');
  return {
    env: c.get('env'),
    client: c.get('client'),
    notes: c.get('notes'),
    actor: c.get('actor') ?? { type: 'anonymous', rejected: null },
    work: new RequestWork(c.req.raw),
    ...(idempotency !== undefined && { idempotency }),
  };
}
