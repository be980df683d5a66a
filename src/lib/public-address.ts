import ipaddr from 'ipaddr.js';

/** A range of addresses, parsed from CIDR notation. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Parses a range such as `10.0.0.0/8` or `fd00::/8`.
 * @returns null if the text is not in CIDR notation
 */
export function parseAddressRange(text: string): AddressRange | null {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) return ipaddr.IPv4.parseCIDR(text);
  return ipaddr.IPv6.isValidCIDR(text) ? ipaddr.IPv6.parseCIDR(text) : null;
}

/** The IPv6 addresses that are routed in the Internet. ipaddr.js also counts unassigned ones and `::a.b.c.d` as unicast. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public by its number, but inside every virtual machine of Azure a service of the host. */
const azureHost = ipaddr.IPv4.parse('168.63.129.16');

/**
 * Whether an address is reachable by everyone in the Internet, so that a request to it reaches nothing inside the network
 * of this service. Ranges for special use (RFC 6890) are not, including IPv6 addresses that contain an IPv4 address.
 * @param address in canonical form, as from DNS; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (parsed === null || parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalIpv6);
  return !parsed.match(azureHost, 32);
}

/** Whether an address is that of this machine. */
export const isLoopback = (address: string): boolean => parse(address)?.range() === 'loopback';

/** Whether an address is in one of the ranges. An IPv6 address that contains an IPv4 address is not in a range of IPv4. */
export function isInRanges(address: string, ranges: readonly AddressRange[]): boolean {
  const parsed = parse(address);
  return parsed !== null && ranges.some((range) => isInRange(parsed, range));
}

function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, [start, bits]: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) return start instanceof ipaddr.IPv4 && address.match(start, bits);
  return start instanceof ipaddr.IPv6 && address.match(start, bits);
}

function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : null;
}
