import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type { ClientOrigin } from '../../services/context.ts';

/**
 * Where a request came from. Behind `trustProxy` reverse proxies the client's address is that many from the right of
 * X-Forwarded-For: each proxy appends the address that it saw, so whatever stands further left is the client's own
 * word and changes nothing.
 */
export function clientOrigin(c: Context, trustProxy: number): ClientOrigin {
  const socketAddress = getConnInfo(c).remote.address ?? '';
  const forwarded = trustProxy === 0 ? undefined : forwardedAddress(c, trustProxy);
  return origin(forwarded ?? socketAddress);
}

function forwardedAddress(c: Context, trustProxy: number): string | undefined {
  const hops = c.req.header('x-forwarded-for')?.split(',') ?? [];
  return hops.at(-trustProxy)?.trim();
}

function origin(address: string): ClientOrigin {
  if (!ipaddr.isValid(address)) return { ip: '0.0.0.0', limitKey: 'unknown', country: null };
  // An IPv4 client of a dual-stack socket arrives as ::ffff:a.b.c.d; a ban of a.b.c.d must find it.
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv6) {
    const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
    return { ip: parsed.toRFC5952String(), limitKey: `${network.join(':')}::/64`, country: null };
  }
  const ip = parsed.toString();
  return { ip, limitKey: ip, country: null };
}
