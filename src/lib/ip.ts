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

/** What rate limits count by: an IPv4 address, or the /64 that one IPv6 subscriber has. */
export function rateLimitKey(canonicalAddress: string): string {
  const parsed = ipaddr.parse(canonicalAddress);
  return parsed instanceof ipaddr.IPv6 ? ipv6Network(parsed.parts, 64) : canonicalAddress;
}

/** A network that a client's own lies in. */
export interface WiderNetwork {
  readonly network: string;
  /** How many times the points of one client all clients in it have together. */
  readonly times: number;
}

/**
 * The networks around what rate limits count by. A provider gives a customer a /56 or a /48, which are 256 and 65,536
 * clients by their /64; an IPv4 address is one client's, or many clients' already.
 */
export function widerNetworks(key: string): readonly WiderNetwork[] {
  if (!key.endsWith('::/64')) return [];
  const parts = key
    .slice(0, -'::/64'.length)
    .split(':')
    .map((part) => Number.parseInt(part, 16));
  return [
    { network: ipv6Network(parts, 56), times: 4 },
    { network: ipv6Network(parts, 48), times: 16 },
  ];
}

/**
 * What places are shared by that addresses compete for: the /24 of an IPv4 address, the /48 of an IPv6 one, or `unknown`.
 * @param canonicalAddress null when it could not be read
 */
export function networkOf(canonicalAddress: string | null): string {
  if (canonicalAddress === null) return 'unknown';
  const parsed = ipaddr.parse(canonicalAddress);
  if (parsed instanceof ipaddr.IPv6) return ipv6Network(parsed.parts, 48);
  return `${canonicalAddress.split('.').slice(0, 3).join('.')}.0/24`;
}

function ipv6Network(parts: readonly number[], length: 64 | 56 | 48): string {
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const groups = { 64: [a, b, c, d], 56: [a, b, c, d & 0xff00], 48: [a, b, c] }[length];
  return `${groups.map((group) => group.toString(16)).join(':')}::/${length}`;
}
