import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { Registry } from 'prom-client';
import type { Logger } from '../lib/log.ts';

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** The metrics server cannot listen on its address; see `cause`. */
export class MetricsListenError extends Error {
  override readonly name = 'MetricsListenError';
}

export interface MetricsServer {
  readonly url: string;
  close(): void;
}

/**
 * Serves only the metrics page, at an address separate from the service's, because metrics are for the operator only.
 * @param page renders the page in Prometheus's text format
 * @throws {MetricsListenError}
 */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  page: () => Promise<string>,
  log: Pick<Logger, 'error'>,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path !== '/metrics' || !isRead) {
      response
        .writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' })
        .end('Not found. Only GET /metrics is served here.\n');
      return;
    }
    page().then(
      (text) => {
        response.writeHead(200, {
          'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE,
          'Content-Length': Buffer.byteLength(text),
          'Cache-Control': 'no-store',
        });
        response.end(request.method === 'HEAD' ? undefined : text);
      },
      (error: unknown) => {
        log.error({ err: error }, 'The metrics page could not be rendered');
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, { host, port });
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${portOf(server)}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listen(server: Server, { host, port }: MetricsAddress): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new MetricsListenError('The metrics endpoint could not start.', { cause: error });
  }
}

/** The server's port; the operating system chooses one for port 0. */
function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
