import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import { canonicalIp, rateLimitKey } from '../../lib/ip.ts';
import type { ClientOrigin } from '../../services/context.ts';
import { type CountrySource, countryOf } from './country.ts';

export interface ClientOriginOptions {
  readonly trustProxy: number;
  readonly country: CountrySource;
}

/**
 * Where a request came from. Behind `trustProxy` reverse proxies the client's address is that many from the right of
 * X-Forwarded-For: each proxy appends the address that it saw, so whatever stands further left is the client's own
 * word and changes nothing.
 */
export function clientOrigin(c: Context, { trustProxy, country }: ClientOriginOptions): ClientOrigin {
  const socketAddress = getConnInfo(c).remote.address ?? '';
  const forwarded = trustProxy === 0 ? undefined : forwardedAddress(c, trustProxy);
  const address = forwarded ?? socketAddress;
  if (!ipaddr.isValid(address)) return { ip: '0.0.0.0', limitKey: 'unknown', country: null };
  const ip = canonicalIp(address);
  return { ip, limitKey: rateLimitKey(ip), country: countryOf(c, ip, country) };
}

function forwardedAddress(c: Context, trustProxy: number): string | undefined {
  const hops = c.req.header('x-forwarded-for')?.split(',') ?? [];
  return hops.at(-trustProxy)?.trim();
}
