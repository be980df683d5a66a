import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The canonical spelling of an IP address: dotted decimal for IPv4 and IPv4-mapped IPv6 (as reported by dual-stack
 * sockets), RFC 5952 for IPv6. Zone ids are dropped, because they are local to a machine.
 * @throws {Error} if the text is not an address
 */
export function canonicalIp(address: string): string {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
}

/**
 * Parses an address from X-Forwarded-For. The header has no standard, and load balancers write addresses plainly, in
 * brackets or with a port.
 * @returns the canonical address, or null if the text is not an address
 */
export function parseForwardedAddress(text: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = bracketed ?? dotted ?? text;
  return isIP(address) === 0 ? null : canonicalIp(address);
}

/** The key that rate limits count by: an IPv4 address, or the /64 of an IPv6 address, which is one subscriber's. */
export function rateLimitKey(canonicalAddress: string): string {
  const parsed = ipaddr.parse(canonicalAddress);
  return parsed instanceof ipaddr.IPv6 ? ipv6Network(parsed.parts, 64) : canonicalAddress;
}

/**
 * The wider networks around a rate limit key. Providers assign /56 or /48 networks to customers, who could otherwise act
 * as 256 or 65,536 clients with a /64 each. IPv4 addresses have none: they are often shared by many clients already.
 * @returns the networks, narrowest first, each with its limit as a multiple of one client's limit
 */
export function widerNetworks(key: string): readonly { readonly network: string; readonly times: number }[] {
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
 * The network by which clients share limited resources fairly: the /24 of an IPv4 address, the /48 of an IPv6 address, or
 * `unknown`.
 * @param canonicalAddress null if it could not be parsed
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
