import { IncomingMessage, ServerResponse } from 'node:http';
import { matchedRoutes } from 'hono/route';
import { networkOf } from '../lib/ip.ts';
import type { ClientOrigin } from '../services/client-origin.ts';
import type { ServiceEnvironment } from '../services/context.ts';
import { type RequestNotes, type Transport, unmatched } from '../telemetry/request-notes.ts';
import type { RequestObserver } from '../telemetry/request-observer.ts';
import type { RestContext } from './adapter.ts';
import { requestIdOf } from './request-id.ts';

export interface BeginOptions {
  readonly env: ServiceEnvironment;
  readonly originOf: (c: RestContext) => ClientOrigin;
  readonly observe: RequestObserver;
}

/** Routes whose answers are made for one reader. (Pages are the same bytes for all readers.) */
const holdsRows: ReadonlySet<Transport> = new Set<Transport>(['rest', 'graphql']);

/** Notes what every handler reads of a request, and has it followed to its end. */
export type BeginRequest = (c: RestContext, transport: Transport, route: string) => void;

export function createRequestContext({ env, originOf, observe }: BeginOptions): BeginRequest {
  return (c, transport, route) => {
    const client = originOf(c);
    const notes: RequestNotes = {
      requestId: requestIdOf(c.req.header('x-request-id')),
      method: c.req.method,
      transport,
      route,
      code: null,
      ip: client.ip,
      country: client.country,
      userAgent: c.req.header('user-agent'),
      developerId: null,
      credential: null,
      applicationId: null,
      operation: null,
      operationKind: null,
    };
    c.set('requestId', notes.requestId);
    c.set('env', env);
    c.set('client', client);
    c.set('notes', notes);
    const exchange = exchangeOf(c);
    if (exchange === null) return;
    observe(notes, exchange);
    if (holdsRows.has(transport)) env.unreadAnswers.follow(networkOf(client.ip), exchange.outgoing);
  };
}

/** Node's side of a request; null where there is none, as in an application that is asked directly. */
export function exchangeOf(
  c: RestContext,
): { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse } | null {
  const bindings: unknown = c.env;
  if (typeof bindings !== 'object' || bindings === null) return null;
  if (!('incoming' in bindings && 'outgoing' in bindings)) return null;
  const { incoming, outgoing } = bindings;
  return incoming instanceof IncomingMessage && outgoing instanceof ServerResponse
    ? { incoming, outgoing }
    : null;
}

/**
 * The pattern of the route that a request is for: of a table, so that there are only so many. Where middleware alone
 * matches, as for a page that asks what it may send, the path that this middleware is for.
 */
export function routeOf(c: RestContext): string {
  const matched = matchedRoutes(c);
  const handler =
    matched.findLast(({ method }) => method !== 'ALL') ?? matched.findLast(({ path }) => !path.includes('*'));
  return handler?.path ?? unmatched;
}

/** What answers this route. The client protocol has an application of its own. */
export function transportOf(route: string): Transport {
  if (route === '/graphql') return 'graphql';
  if (route.startsWith('/health')) return 'health';
  return route === '/' || route.startsWith('/docs') || route.startsWith('/graphql/') ? 'page' : 'rest';
}
