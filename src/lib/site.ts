import { isIP } from 'node:net';

/**
 * Whether a browser may take two origins for one site, to which it sends SameSite=Lax cookies (RFC 6265bis §5.2, "same-site").
 * It asks the Public Suffix List; here two hosts are of one site when they share a parent domain of at least two
 * labels. So nothing that is one site is called two, and of two sites only those under a suffix of several labels, as
 * `a.co.uk` and `b.co.uk`, are taken for one.
 */
export function mayBeSameSite(one: string, other: string): boolean {
  const [first, second] = [new URL(one), new URL(other)];
  if (first.protocol !== second.protocol) return false;
  if (first.hostname === second.hostname) return true;
  if (isAddress(first.hostname) || isAddress(second.hostname)) return false;
  const parent = (host: string) => host.replace(/\.$/, '').split('.').slice(-2).join('.');
  return parent(first.hostname).includes('.') && parent(first.hostname) === parent(second.hostname);
}

/** Addresses have no parents: 10.0.0.1 and 192.168.0.1 share their last two numbers and no site. */
const isAddress = (host: string) => host.startsWith('[') || isIP(host) !== 0;
