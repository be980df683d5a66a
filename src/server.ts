import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { App } from './app.ts';
import type { Config } from './config.ts';
import { createDeps } from './deps.ts';
import {
  type HttpLimits,
  httpLimitsBehind,
  limitConnections,
  malformedRequest,
  refusalBody,
  refusalFields,
} from './http-limits.ts';
import { createDrain } from './lib/drain.ts';
import { createLogger, type Logger } from './lib/log.ts';
import { startMetricsServer } from './telemetry/metrics-server.ts';
import type { ProcessMetrics } from './telemetry/workers-page.ts';

/** A running service. */
export interface RunningServer {
  /** Its public URL, from the configuration. */
  readonly url: string;
  /**
   * Shuts down within SHUTDOWN_SECONDS: stops accepting connections, finishes open requests until their part of that time
   * is over, writes buffered data, and closes everything.
   * @throws {Error} when buffered data could not be written
   */
  close(): Promise<void>;
}

/** A service that does not listen: another process accepts its connections and hands them over. */
export interface HandedServer extends RunningServer {
  /** This process's metrics, for a page of several processes. */
  metrics(): Promise<ProcessMetrics>;
  /** Serves a connection that no data has been read from yet. */
  take(connection: Socket): void;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** Called when a required component has died. The process should end. */
  readonly onFatal?: (error: Error) => void;
  /** Connection limits. Defaults are those of httpLimitsBehind. */
  readonly limits?: Partial<HttpLimits>;
}

/**
 * Starts the service and listens.
 * @throws {MetricsListenError | Error} from createDeps, or a listen error such as EADDRINUSE
 */
export async function startServer(config: Config, options: ServerOptions = {}): Promise<RunningServer> {
  const { server, running, deps } = await open(config, options);
  try {
    const metrics =
      config.metrics === null
        ? null
        : await startMetricsServer(config.metrics, deps.telemetry.page, deps.log);
    if (metrics !== null) deps.log.info(`Metrics are at ${metrics.url}`);
    server.listen(config.port, config.host);
    await once(server, 'listening').catch((error: unknown) => {
      metrics?.close();
      throw error;
    });
    // Closed last, so that metrics are available during the shutdown.
    return { ...running, close: () => running.close().finally(() => metrics?.close()) };
  } catch (error) {
    await deps.close().catch(() => undefined);
    throw error;
  }
}

/**
 * Starts the service without listening.
 * @throws {Error} from createDeps
 */
export async function startHandedServer(config: Config, options: ServerOptions = {}): Promise<HandedServer> {
  const { server, running, deps } = await open(config, options);
  // On this event, node:http starts its timeouts of slow and idle connections.
  server.emit('listening');
  return {
    ...running,
    metrics: deps.telemetry.asData,
    take: (connection) => {
      // node:http sets this on connections that it accepts itself.
      connection.setNoDelay(true);
      server.emit('connection', connection);
    },
  };
}

async function open(config: Config, options: ServerOptions) {
  const log = options.log ?? createLogger(config.logLevel);
  // Its modules are loaded while the database opens.
  const [deps, { createApp }] = await Promise.all([
    createDeps(config, { log, onFatal: options.onFatal }),
    import('./app.ts'),
  ]);
  const server = createHttpServer(createApp(deps), config, options.limits);
  const wholeMilliseconds = config.shutdownSeconds * 1000;
  const drain = createDrain(server, { timeoutMilliseconds: patienceWithin(wholeMilliseconds) });
  const running: RunningServer = {
    url: config.publicUrl,
    close: async () => {
      const deadline = performance.now() + wholeMilliseconds;
      deps.readiness.drain();
      // Open streams would delay the drain. Closing them lets their clients reconnect to another instance at once.
      deps.services.securityLogFeed.close();
      deps.services.webhooks.stop();
      await drain();
      await deps.close(deadline);
    },
  };
  return { server, running, deps };
}

/** The part of the shutdown time that is reserved for writing the log and closing. Open requests have the rest. */
const reserved = { share: 0.5, maxMilliseconds: 5_000 } as const;

const patienceWithin = (wholeMilliseconds: number): number =>
  wholeMilliseconds - Math.min(reserved.maxMilliseconds, reserved.share * wholeMilliseconds);

/** Creates an HTTP/1.1 server with connection limits for an application. It does not listen yet. */
export function createHttpServer(
  app: App,
  { host, trustProxy }: Pick<Config, 'host' | 'trustProxy'>,
  overridden: Partial<HttpLimits> = {},
) {
  const limits = { ...httpLimitsBehind(trustProxy), ...overridden };
  const listener = getRequestListener(app.fetch, {
    hostname: host,
    errorHandler: (error) => {
      // The application answers its own errors.
      if (!(error instanceof RequestError)) return new Response(null, { status: 500 });
      // The URL of the request is invalid: its Host is not a host name, or its path has a backslash.
      const body = refusalBody(malformedRequest);
      return new Response(body, { status: 400, headers: refusalFields(body, app.fixedFields) });
    },
  });
  const server = createServer(limits, listener);
  limitConnections(server, app.fixedFields, limits);
  return server;
}
