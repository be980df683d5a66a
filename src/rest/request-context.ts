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

/** Transports whose responses hold memory per client. Static pages share one buffer. */
const holdsRows: ReadonlySet<Transport> = new Set<Transport>(['rest', 'graphql']);

/** Sets the request's context for its handlers and starts observing the response. */
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

/** Node's request and response objects; null when the Hono app is called directly, without a server. */
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
 * The route pattern that a request matched; patterns bound the number of distinct metric labels. If only middleware
 * matched, as for a CORS preflight, the path of that middleware.
 */
export function routeOf(c: RestContext): string {
  const matched = matchedRoutes(c);
  const handler =
    matched.findLast(({ method }) => method !== 'ALL') ?? matched.findLast(({ path }) => !path.includes('*'));
  return handler?.path ?? unmatched;
}

/** The transport of a route outside the client protocol, which is served by its own app. */
export function transportOf(route: string): Transport {
  if (route === '/graphql') return 'graphql';
  if (route.startsWith('/health')) return 'health';
  return route === '/' || /^\/(docs|packages|graphql\/)/.test(route) ? 'page' : 'rest';
}
