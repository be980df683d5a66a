import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { type App, createApp } from './app.ts';
import type { Config } from './config.ts';
import { createDeps } from './deps.ts';
import { createDrain } from './lib/drain.ts';
import {
  type HttpLimits,
  httpLimitsBehind,
  limitConnections,
  malformedRequest,
  refusalBody,
  refusalFields,
} from './lib/http-limits.ts';
import { createLogger, type Logger } from './lib/log.ts';
import { startMetricsServer } from './telemetry/metrics-server.ts';
import type { ProcessMetrics } from './telemetry/workers-page.ts';

/** A service that answers requests. */
export interface RunningServer {
  /** Where it is reached, as the configuration publishes it. */
  readonly url: string;
  /**
   * Stops accepting, finishes open requests as long as patience lasts, then writes what is waiting, and closes: all of
   * it within SHUTDOWN_SECONDS.
   * @throws {Error} when something that waited could not be written
   */
  close(): Promise<void>;
}

/** One that listens nowhere: another process accepts its connections. */
export interface HandedServer extends RunningServer {
  /** What it knows of itself, for a page of several processes. */
  metrics(): Promise<ProcessMetrics>;
  /** Serves a connection that nothing has been read from yet. */
  take(connection: Socket): void;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** Called when a part that the service cannot live without has died; the process should end. */
  readonly onFatal?: (error: Error) => void;
  /** What connections may take; what is left out is as in httpLimitsBehind. */
  readonly limits?: Partial<HttpLimits>;
}

/**
 * Opens everything and listens.
 * @throws {MetricsListenError | Error} of createDeps, or EADDRINUSE and its like
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
    // The last to go, so that an end that takes its time can be watched.
    return { ...running, close: () => running.close().finally(() => metrics?.close()) };
  } catch (error) {
    await deps.close().catch(() => undefined);
    throw error;
  }
}

/**
 * Opens everything and waits for connections.
 * @throws {Error} of createDeps
 */
export async function startHandedServer(config: Config, options: ServerOptions = {}): Promise<HandedServer> {
  const { server, running, deps } = await open(config, options);
  // What node:http does at this event is needed without a port too: it watches over connections that are slow or idle.
  server.emit('listening');
  return {
    ...running,
    metrics: deps.telemetry.asData,
    take: (connection) => {
      // What node:http sets on connections that it accepts itself.
      connection.setNoDelay(true);
      server.emit('connection', connection);
    },
  };
}

async function open(config: Config, options: ServerOptions) {
  const log = options.log ?? createLogger(config.logLevel);
  const deps = await createDeps(config, { log, onFatal: options.onFatal });
  const server = createHttpServer(createApp(deps), config, options.limits);
  const wholeMilliseconds = config.shutdownSeconds * 1000;
  const drain = createDrain(server, { timeoutMilliseconds: patienceWithin(wholeMilliseconds) });
  const running: RunningServer = {
    url: config.publicUrl,
    close: async () => {
      const deadline = performance.now() + wholeMilliseconds;
      deps.readiness.drain();
      // Open streams would hold the drain up, and their clients do better to go on elsewhere at once: they are broken off.
      deps.services.securityLogFeed.close();
      await drain();
      await deps.close(deadline);
    },
  };
  return { server, running, deps };
}

/** Of the time that an end may take, what is kept for writing the log and closing: requests have the rest. */
const kept = { share: 0.5, mostMilliseconds: 5_000 } as const;

const patienceWithin = (wholeMilliseconds: number): number =>
  wholeMilliseconds - Math.min(kept.mostMilliseconds, kept.share * wholeMilliseconds);

/** An HTTP/1.1 server of an application, which bounds what connections take. It listens nowhere yet. */
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
      // A request whose address cannot be read: its Host names none, or its path has a backslash.
      const body = refusalBody(malformedRequest);
      return new Response(body, { status: 400, headers: refusalFields(body, app.fixedFields) });
    },
  });
  const server = createServer(limits, listener);
  limitConnections(server, app.fixedFields, limits);
  return server;
}
