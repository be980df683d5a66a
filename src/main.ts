import { serve } from '@hono/node-server';
import { createApp } from './app.ts';
import { ConfigError, loadConfig } from './config.ts';
import { createDeps } from './deps.ts';
import { createLogger } from './lib/log.ts';

/** The longest that open requests may take once the process is told to stop, in milliseconds. */
const shutdownLimit = 10_000;

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const deps = await createDeps(config, { log });
  if (config.turnstile === null)
    log.warn('TURNSTILE_SECRET_KEY is not set: the bot challenge is not checked');

  const server = serve({ fetch: createApp(deps).fetch, port: config.port, hostname: config.host });
  server.once('listening', () =>
    log.info({ database: config.database.kind }, `Listening on ${config.publicUrl}`),
  );
  server.once('error', (error) => {
    log.fatal({ err: error }, `Cannot listen on ${config.host}:${config.port}`);
    void deps.close().finally(() => process.exit(1));
  });

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    // A second signal is someone who does not want to wait.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'Stopping: finishing open requests');
    setTimeout(() => process.exit(1), shutdownLimit).unref();
    server.close(() => {
      deps.close().then(
        () => process.exit(0),
        (error: unknown) => {
          log.fatal({ err: error }, 'Could not close cleanly');
          process.exit(1);
        },
      );
    });
    if ('closeIdleConnections' in server) server.closeIdleConnections();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

start().catch((error: unknown) => {
  // What an operator can mend is said plainly; anything else with its stack.
  const expected = error instanceof Error && operatorErrors.has(error.name);
  process.stderr.write(
    `${expected ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
});

const operatorErrors = new Set([
  ConfigError.name,
  'DatabaseStartError',
  'StoreUnavailableError',
  'MasterSecretError',
  'PrivateKeyUnreadableError',
]);
