import { isIP } from 'node:net';
import type { Config } from '../../config.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn } = findingsOf('settings');

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Warns about settings that are unsafe for a public service. The service starts with them. */
export function checkProduction(config: Config): readonly Finding[] {
  const { hostname, protocol } = new URL(config.publicUrl);
  const isPublic = !isLoopback(hostname) || !isLoopback(config.host);
  const findings = [
    ...(config.cryptoEnforce
      ? []
      : [warn('CRYPTO_ENFORCE is false: unsealed client requests are accepted. Use this only for tests.')]),
    ...(isPublic ? checkPublic(config, protocol) : []),
    ...(config.metrics !== null && !isLoopback(config.metrics.host)
      ? [
          warn(
            `METRICS_HOST is ${config.metrics.host}, and the metrics need no login: restrict access with a firewall or a ` +
              'private network.',
          ),
        ]
      : []),
  ];
  return findings.length > 0
    ? findings
    : [ok(isPublic ? 'Suitable for a public service' : 'Reachable only from this machine')];
}

function checkPublic(config: Config, protocol: string): Finding[] {
  return [
    ...(config.production
      ? []
      : [
          warn(
            'NODE_ENV is not production: set it, so that the service does not start with settings for tests.',
          ),
        ]),
    ...(protocol === 'https:'
      ? []
      : [
          warn(
            'PUBLIC_URL does not start with https: session cookies are sent without encryption. Put a reverse proxy ' +
              'with TLS in front, and set PUBLIC_URL to its address.',
          ),
        ]),
    ...(protocol === 'https:' && config.trustProxy === 0
      ? [
          warn(
            'TRUST_PROXY is 0 while PUBLIC_URL is https: if a reverse proxy is in front, all clients share its address ' +
              'and one rate limit. Set it to the number of proxies.',
          ),
        ]
      : []),
    ...(config.registrationOpen
      ? [
          warn(
            config.turnstile === null
              ? 'REGISTRATION is open, and TURNSTILE_SECRET_KEY is not set: anyone, bots included, can create accounts. ' +
                  'Close registration and use "latchkey create-developer", or set the key.'
              : 'REGISTRATION is open: anyone can create an account. Close it if this is not intended.',
          ),
        ]
      : []),
  ];
}
