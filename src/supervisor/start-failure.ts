import { ConfigError } from '../config.ts';
import { MasterSecretError } from '../crypto/master-secret.ts';
import { PrivateKeyUnreadableError } from '../crypto/sealed-private-key.ts';
import { DatabaseStartError } from '../db/start-error.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';
import { CountryDatabaseError } from '../lib/country-database.ts';
import { MetricsListenError } from '../telemetry/metrics-server.ts';

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

/** What to do about an address that cannot be listened on, by the operating system's code; of the service's, or of another. */
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
  if (error instanceof MetricsListenError) {
    const reason = adviseListening(error.cause, 'METRICS_') ?? String(error.cause);
    return `The metrics cannot be served. ${reason}`;
  }
  return adviseListening(error) ?? error.stack ?? error.message;
}

/** @param prefix of the variables that name the address */
function adviseListening(error: unknown, prefix = ''): string | null {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return null;
  const advice = listenAdvice.get(error.code);
  if (advice === undefined) return null;
  return `Cannot listen: ${error.message}. ${advice.replace(/\b(?=(PORT|HOST)\b)/g, prefix)}`;
}
