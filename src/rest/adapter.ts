import type { Context } from 'hono';
import type { Actor } from '../services/actor.ts';
import type { ClientOrigin } from '../services/client-origin.ts';
import type { ServiceContext, ServiceEnvironment } from '../services/context.ts';
import { RequestWork } from '../services/request-work.ts';
import type { RequestNotes } from '../telemetry/request-notes.ts';

/** What the middleware leaves for the handlers. */
export interface RestEnv {
  Variables: {
    requestId: string;
    env: ServiceEnvironment;
    client: ClientOrigin;
    notes: RequestNotes;
    /** Set by `originGuard` where a foreign page asks for a change with an API key. */
    foreignOrigin: string | undefined;
    /** Set by `authenticated`; without it the request is nobody's. */
    actor: Actor | undefined;
  };
}

export type RestContext = Context<RestEnv>;

/** The request as a service verb sees it. */
export function serviceContext(c: RestContext): ServiceContext {
  return {
    env: c.get('env'),
    client: c.get('client'),
    notes: c.get('notes'),
    actor: c.get('actor') ?? { type: 'anonymous', rejected: null },
    work: new RequestWork(c.req.raw),
  };
}
