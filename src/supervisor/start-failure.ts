import { ConfigError } from '../config.ts';
import { MasterSecretError } from '../crypto/master-secret.ts';
import { PrivateKeyUnreadableError } from '../crypto/sealed-private-key.ts';
import { DatabaseStartError } from '../db/start-error.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';
import { CountryDatabaseError } from '../lib/country-database.ts';
import { MetricsListenError } from '../telemetry/metrics-server.ts';

/** A worker could not start. The message is the worker's. */
export class WorkerStartError extends Error {
  override readonly name = 'WorkerStartError';
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Errors that an operator can fix. They are shown without a stack. */
const operatorErrors = [
  ConfigError,
  CountryDatabaseError,
  DatabaseStartError,
  MasterSecretError,
  PrivateKeyUnreadableError,
  StoreUnavailableError,
  WorkerStartError,
];

/** Advice for an address that cannot be listened on, by error code of the operating system. */
const listenAdvice: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'Set PORT and HOST to a free address.'],
  ['EACCES', 'Set PORT and HOST to an address that this user may listen on.'],
  ['EADDRNOTAVAIL', 'Set HOST to an address of this machine, or to 0.0.0.0 for all of them.'],
  ['EAFNOSUPPORT', 'Set HOST to an address of a family that this machine supports, such as 127.0.0.1.'],
  ['EINVAL', 'Set HOST to a valid address; a link-local one needs its zone, such as fe80::1%eth0.'],
  ['ENOTFOUND', 'Set HOST to an address of this machine.'],
]);

/** Describes a failed start to the operator, without secrets. */
export function describeStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (operatorErrors.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof MetricsListenError) {
    const reason = adviseListening(error.cause, 'METRICS_') ?? String(error.cause);
    return `The metrics endpoint could not start. ${reason}`;
  }
  return adviseListening(error) ?? error.stack ?? error.message;
}

/** @param prefix the prefix of the PORT and HOST variables in the advice */
function adviseListening(error: unknown, prefix = ''): string | null {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return null;
  const advice = listenAdvice.get(error.code);
  if (advice === undefined) return null;
  return `Cannot listen: ${error.message}. ${advice.replace(/\b(?=(PORT|HOST)\b)/g, prefix)}`;
}
