import { isIP } from 'node:net';

/**
 * Whether a browser may consider two origins same-site and thus send SameSite=Lax cookies (RFC 6265bis §5.2). Browsers use
 * the Public Suffix List; this approximation treats hosts as same-site if they share a parent domain of at least two
 * labels. It has no false negatives; false positives occur only under multi-label suffixes, such as `a.co.uk` and
 * `b.co.uk`.
 */
export function mayBeSameSite(one: string, other: string): boolean {
  const [first, second] = [new URL(one), new URL(other)];
  if (first.protocol !== second.protocol) return false;
  if (first.hostname === second.hostname) return true;
  if (isAddress(first.hostname) || isAddress(second.hostname)) return false;
  const parent = (host: string) => host.replace(/\.$/, '').split('.').slice(-2).join('.');
  return parent(first.hostname).includes('.') && parent(first.hostname) === parent(second.hostname);
}

/** IP addresses have no parent domain: 10.0.0.1 and 192.168.0.1 end alike but are not the same site. */
const isAddress = (host: string) => host.startsWith('[') || isIP(host) !== 0;
