import { isIP } from 'node:net';
import { type AddressRange, isInRanges, isLoopback, isPublicAddress } from '../../lib/public-address.ts';
import { ServiceError } from '../errors.ts';

/** Addresses that webhooks may be sent to although they are not public: `WEBHOOK_ALLOW`. */
export type AllowedRanges = readonly AddressRange[];

/** Whether a request may be sent to an address. */
export const isAllowedAddress = (address: string, allowed: AllowedRanges): boolean =>
  isPublicAddress(address) || isInRanges(address, allowed);

const loopbackAddresses = ['127.0.0.1', '::1'];

/**
 * The addresses of a host that need no DNS: those of an IP address, and of `localhost`, which always means this machine
 * (RFC 6761 §6.3).
 * @param hostname of a parsed URL, which has normalized every spelling of an IPv4 address
 * @returns null if the name is to be resolved
 */
export function literalAddresses(hostname: string): readonly string[] | null {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return [host];
  return host === 'localhost' || host.endsWith('.localhost') ? loopbackAddresses : null;
}

/** Why webhooks cannot be sent to a URL, as far as the URL alone shows; null if they can. */
export function refusalOfUrl(given: string, allowed: AllowedRanges): string | null {
  // A URL parser removes or repairs these, so that what is shown would differ from what is requested.
  if (/[\s\\\p{Cc}]/u.test(given) || !URL.canParse(given)) return 'must be an absolute URL';
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (given.includes('#')) return 'must not have a fragment';
  const literal = literalAddresses(url.hostname);
  const mayUse = literal?.some((address) => isAllowedAddress(address, allowed)) ?? true;
  if (url.protocol === 'http:' && !(literal?.every(isLoopback) && mayUse)) return 'must begin with https://';
  return mayUse ? null : 'must not have an address that is not public';
}

/**
 * Checks the URL of a webhook.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function requireUrl(url: string, allowed: AllowedRanges): void {
  const message = refusalOfUrl(url, allowed);
  if (message === null) return;
  throw new ServiceError('VALIDATION_FAILED', `The input is not valid: url: ${message}`, {
    issues: [{ path: ['url'], message }],
  });
}
