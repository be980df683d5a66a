import { ConfigError } from '../config.ts';
import { MasterSecretError } from '../crypto/master-secret.ts';
import { PrivateKeyUnreadableError } from '../crypto/sealed-private-key.ts';
import { DatabaseStartError } from '../db/start-error.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';
import { CountryDatabaseError } from '../lib/country-database.ts';

/** A worker could not start; its message is what the worker had to say. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError';
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What an operator can mend is said plainly; anything else with its stack. */
const operatorErrors = [
  ConfigError,
  CountryDatabaseError,
  DatabaseStartError,
  MasterSecretError,
  PrivateKeyUnreadableError,
  StoreUnavailableError,
  WorkerStartError,
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

/** Why the service could not start, for its operator, without a secret. */
export function describeStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (operatorErrors.some((kind) => error instanceof kind)) return error.message;
  if ('code' in error && typeof error.code === 'string') {
    const advice = listenAdvice.get(error.code);
    if (advice !== undefined) return `Cannot listen: ${error.message}. ${advice}`;
  }
  return error.stack ?? error.message;
}
