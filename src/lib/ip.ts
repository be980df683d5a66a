import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The one spelling of an address: dotted for IPv4, also when it comes mapped into IPv6 (as a dual-stack socket reports
 * it); RFC 5952 for IPv6. Zone ids are dropped: they mean something on one machine alone.
 * @throws {Error} for text that is no address
 */
export function canonicalIp(address: string): string {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
}

/**
 * The address that a proxy wrote into X-Forwarded-For, which no standard spells: bare, in brackets, or with a port, as
 * some load balancers write it.
 * @returns its canonical text, or null for what is no address
 */
export function parseForwardedAddress(text: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  return isIP(address) === 0 ? null : canonicalIp(address);
}

/** What rate limits count by: an IPv4 address, or the /64 that one IPv6 subscriber has to himself. */
export function rateLimitKey(canonicalAddress: string): string {
  const parsed = ipaddr.parse(canonicalAddress);
  if (!(parsed instanceof ipaddr.IPv6)) return canonicalAddress;
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
