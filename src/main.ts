import { ConfigError, loadConfig } from './config.ts';
import { MasterSecretError } from './crypto/master-secret.ts';
import { PrivateKeyUnreadableError } from './crypto/sealed-private-key.ts';
import { DatabaseStartError } from './db/start-error.ts';
import { StoreUnavailableError } from './ephemeral/store.ts';
import { CountryDatabaseError } from './lib/country-database.ts';
import { createLogger } from './lib/log.ts';
import { startServer } from './server.ts';

/**
 * The longest that stopping may take, in milliseconds: far more than open requests are given, so that what waits to be
 * written is written even then.
 */
const shutdownLimit = 20_000;
/** The terminal sends Ctrl-C to `npm start` and to this process, and npm passes it on: two signals, one wish. */
const sameSignalWithin = 1_000;

/** What an operator can mend is said plainly; anything else with its stack. */
const operatorErrors = [
  ConfigError,
  CountryDatabaseError,
  DatabaseStartError,
  MasterSecretError,
  PrivateKeyUnreadableError,
  StoreUnavailableError,
];

/** What to do about an address that cannot be listened on, by the operating system's code. */
const listenAdvice: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'Set PORT and HOST to an address that is free.'],
  ['EACCES', 'Set PORT and HOST to an address that this user may listen on.'],
  ['EADDRNOTAVAIL', 'Set HOST to an address that this machine has, or to 0.0.0.0 for all of them.'],
  ['EAFNOSUPPORT', 'Set HOST to an address of a kind that this machine has, such as 127.0.0.1.'],
  [
    'EINVAL',
    'Set HOST to an address that can be listened on; a link-local one needs its zone, as fe80::1%eth0.',
  ],
  ['ENOTFOUND', 'Set HOST to an address that this machine has.'],
]);

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const server = await startServer(config, { log, onFatal: () => process.exit(1) });

  let stoppingSince: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      // A second signal is someone who does not want to wait.
      if (performance.now() - stoppingSince > sameSignalWithin) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'Stopping: finishing open requests');
    setTimeout(() => {
      log.fatal('Could not stop in time: what waited to be written may be lost');
      process.exit(1);
    }, shutdownLimit).unref();
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
  if ('code' in error && typeof error.code === 'string') {
    const advice = listenAdvice.get(error.code);
    if (advice !== undefined) return `Cannot listen: ${error.message}. ${advice}`;
  }
  return error.stack ?? error.message;
}
