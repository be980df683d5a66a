import { describeTlsFailure } from '../lib/tls-failure.ts';
import { nameOfRedis, type RedisAddress } from './redis-address.ts';
import { StoreUnavailableError } from './store.ts';

/** What named the master named a replica: it does not know of a failover yet, or a replica was set up in place of the master. */
export class NamedReplicaError extends Error {
  override readonly name = 'NamedReplicaError';
}

/**
 * Describes a failure without secrets. An error of ioredis contains its command, which for AUTH has the password, so only
 * the code is used.
 */
export function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  if (error instanceof NamedReplicaError) return 'the server that they name is a replica';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Errors of Redis begin with a code: WRONGPASS, NOAUTH, OOM, READONLY.
  const code = /^[A-Z]{3,}\b/.exec(error.message)?.[0];
  if (code !== undefined) return code;
  return error.message === 'Command timed out' ? 'no answer in time' : 'connection lost';
}

/** Whether the server does not have the command, because it is of another kind than REDIS_URL says. */
export const isUnknownCommand = (error: unknown): boolean =>
  error instanceof Error && /^ERR unknown command\b/i.test(error.message);

/** A clause that follows the server's name if its TLS failed; null if something else did. */
export const tlsFailureOf = (error: unknown): string | null =>
  describeTlsFailure(error, {
    trust: 'in NODE_EXTRA_CA_CERTS, which Node.js reads at start',
    clientCertificate: 'set tls-auth-clients to no there, and authenticate with the password of REDIS_URL',
  });

/** Why a Redis is unavailable, for the log and without secrets. */
export function reasonOf(error: unknown): string {
  if (error instanceof StoreUnavailableError) return error.message;
  return error === undefined ? 'the connection was closed' : (tlsFailureOf(error) ?? failureOf(error));
}

/** The error for a command that failed. An error that already explains it is returned as it is. */
export function commandError(
  address: RedisAddress,
  error: unknown,
  failure = 'did not answer',
): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  // A cluster node refused a key of another node, or any key because the cluster is down.
  if (address.kind !== 'cluster' && /^(MOVED|ASK|CLUSTERDOWN)$/.test(failureOf(error))) {
    return partOfCluster(address);
  }
  return new StoreUnavailableError(`${nameOfRedis(address)} ${failure}: ${failureOf(error)}.`);
}

/** A master of a cluster stores some of the keys and refuses all others, so most nonces could not be checked. */
export const partOfCluster = (address: RedisAddress): StoreUnavailableError =>
  new StoreUnavailableError(
    `${nameOfRedis(address)} is a part of a Redis Cluster and accepts only the keys of its slots, so most ` +
      'requests would be refused. Set REDIS_URL to redis+cluster:// with some of its nodes, or to a Redis that is not a ' +
      'cluster (cluster-enabled no).',
  );
