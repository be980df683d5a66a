import { ConfigError, loadConfig } from './config.ts';
import { MasterSecretError } from './crypto/master-secret.ts';
import { PrivateKeyUnreadableError } from './crypto/sealed-private-key.ts';
import { DatabaseStartError } from './db/start-error.ts';
import { StoreUnavailableError } from './ephemeral/store.ts';
import { CountryDatabaseError } from './lib/country-database.ts';
import { createLogger } from './lib/log.ts';
import { startServer } from './server.ts';

/** The longest that open requests may take once the process is told to stop, in milliseconds. */
const shutdownLimit = 10_000;

/** What an operator can mend is said plainly; anything else with its stack. */
const operatorErrors = [
  ConfigError,
  CountryDatabaseError,
  DatabaseStartError,
  MasterSecretError,
  PrivateKeyUnreadableError,
  StoreUnavailableError,
];

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const server = await startServer(config, { log, onFatal: () => process.exit(1) });

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    // A second signal is someone who does not want to wait.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'Stopping: finishing open requests');
    setTimeout(() => process.exit(1), shutdownLimit).unref();
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'Could not close cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
});

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (operatorErrors.some((kind) => error instanceof kind)) return error.message;
  if ('code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) {
    return `Cannot listen: ${error.message}. Set PORT and HOST to an address that is free.`;
  }
  return error.stack ?? error.message;
}
