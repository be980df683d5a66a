import { once } from 'node:events';
import { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createDeps } from './deps.ts';
import { createDrain } from './lib/drain.ts';
import { createLogger, type Logger } from './lib/log.ts';

/** A service that answers requests. */
export interface RunningServer {
  /** Where it listens, as the configuration publishes it. */
  readonly url: string;
  /**
   * Stops accepting, finishes open requests as long as patience lasts, then writes what is waiting, and closes.
   * @throws {Error} when something that waited could not be written
   */
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly log?: Logger;
  /** Called when a part that the service cannot live without has died; the process should end. */
  readonly onFatal?: (error: Error) => void;
}

/**
 * Opens everything and listens.
 * @throws {Error} of createDeps, or EADDRINUSE and its like
 */
export async function startServer(config: Config, options: ServerOptions = {}): Promise<RunningServer> {
  const log = options.log ?? createLogger(config.logLevel);
  const deps = await createDeps(config, { log, onFatal: options.onFatal });
  const server = serve({ fetch: createApp(deps).fetch, port: config.port, hostname: config.host });
  if (!(server instanceof Server)) throw new TypeError('serve() gave no HTTP/1.1 server');
  const drain = createDrain(server);
  try {
    await once(server, 'listening');
  } catch (error) {
    await deps.close().catch(() => undefined);
    throw error;
  }
  if (config.turnstile === null)
    log.warn('TURNSTILE_SECRET_KEY is not set: the bot challenge is not checked');
  log.info(
    { database: config.database.kind, redis: config.redisUrl !== null },
    `Listening on ${config.publicUrl}`,
  );
  return {
    url: config.publicUrl,
    close: async () => {
      // Open streams would hold the drain up, and their clients do better to go on elsewhere at once.
      deps.services.securityLogFeed.close();
      await drain();
      await deps.close();
    },
  };
}
