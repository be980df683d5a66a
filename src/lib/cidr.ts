import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Bits of ::ffff:0:0/96, in which IPv6 contains the addresses of IPv4. */
const mappedBits = 96;

/**
 * Parses a network in CIDR notation (RFC 4632, RFC 4291 §2.3), or a single address. IPv4 inside of IPv6 becomes IPv4,
 * like the addresses of clients.
 * @returns its canonical text with a prefix length; null if the text is not a network, or has bits beyond its prefix
 */
export function parseCidr(text: string): string | null {
  const [, address = '', length] = /^([0-9a-fA-F:.]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return null;
  const parsed = ipaddr.parse(address);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (prefix > bits || !isNetworkAddress(parsed, prefix)) return null;
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    return prefix < mappedBits ? null : `${parsed.toIPv4Address().toString()}/${prefix - mappedBits}`;
  }
  return `${parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString()}/${prefix}`;
}

function isNetworkAddress(address: Address, prefix: number): boolean {
  return address
    .toByteArray()
    .every((byte, index) => (byte & (0xff >> Math.min(8, Math.max(0, prefix - index * 8)))) === 0);
}

/**
 * Whether an address is in a network.
 * @param canonicalAddress from `canonicalIp`
 * @param cidr from `parseCidr`
 */
export function isInCidr(canonicalAddress: string, cidr: string): boolean {
  const [address, [network, prefix]] = [ipaddr.parse(canonicalAddress), ipaddr.parseCIDR(cidr)];
  return matches(address, network, prefix);
}

/** Whether a network contains another one. Both are from `parseCidr`. */
export function containsCidr(outer: string, inner: string): boolean {
  const [[network, prefix], [address, innerPrefix]] = [ipaddr.parseCIDR(outer), ipaddr.parseCIDR(inner)];
  return innerPrefix >= prefix && matches(address, network, prefix);
}

function matches(address: Address, network: Address, prefix: number): boolean {
  if (address instanceof ipaddr.IPv4 && network instanceof ipaddr.IPv4) return address.match(network, prefix);
  return address instanceof ipaddr.IPv6 && network instanceof ipaddr.IPv6 && address.match(network, prefix);
}
