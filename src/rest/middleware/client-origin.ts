import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import { parseForwardedAddress, rateLimitKey } from '../../lib/ip.ts';
import type { Logger } from '../../lib/log.ts';
import type { ClientOrigin } from '../../services/client-origin.ts';
import { type CountrySource, countryOf } from './country.ts';

export interface ClientOriginOptions {
  readonly trustProxy: number;
  readonly country: CountrySource;
  readonly log: Pick<Logger, 'warn'>;
}

/** Whoever has no address that can be read: not stored, not banned, and of one limit with all of their kind. */
const unknownOrigin: ClientOrigin = { ip: null, limitKey: 'unknown', country: null };
const longestLogged = 100;

/**
 * Where a request came from. Behind `trustProxy` reverse proxies the client's address is that many from the right of
 * X-Forwarded-For: each proxy appends the address that it saw, so whatever stands further left is the client's own
 * word and changes nothing. What shows that TRUST_PROXY or a proxy is set up wrongly is logged once.
 */
export function createClientOrigin({ trustProxy, country, log }: ClientOriginOptions) {
  const addressOf = createAddressReader();
  const warnOfTrust = once(() =>
    log.warn(
      'A request came with X-Forwarded-For, and TRUST_PROXY is 0. If a reverse proxy stands in front, set TRUST_PROXY ' +
        'to the number of proxies in front, or all clients share one address and one rate limit',
    ),
  );
  const warnOfAddress = once((address: string) =>
    log.warn(
      { address: address.slice(0, longestLogged) },
      'The client address in X-Forwarded-For cannot be read. Check TRUST_PROXY and what the proxy writes: such clients ' +
        'share one rate limit, and bans of their address do nothing',
    ),
  );

  return (c: Context): ClientOrigin => {
    const hops = c.req.header('x-forwarded-for')?.split(',');
    if (trustProxy === 0 && hops !== undefined) warnOfTrust();
    // Fewer hops than proxies: the request came past one of them, and only the socket is known.
    const forwarded = trustProxy === 0 ? undefined : hops?.at(-trustProxy)?.trim();
    const address = addressOf(forwarded ?? getConnInfo(c).remote.address ?? '');
    if (address === null) {
      if (forwarded !== undefined) warnOfAddress(forwarded);
      return unknownOrigin;
    }
    return { ...address, country: countryOf(c, address.ip, country) };
  };
}

type Address = Pick<ClientOrigin, 'limitKey'> & { readonly ip: string };

/** The addresses that were read last, as they were written: a client asks again and again. */
const kept = { addresses: 10_000, longest: 64 } as const;

function createAddressReader(): (text: string) => Address | null {
  const known = new LRUCache<string, Address>({ max: kept.addresses });
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const ip = parseForwardedAddress(text);
    if (ip === null) return null;
    const address = { ip, limitKey: rateLimitKey(ip) };
    if (text.length <= kept.longest) known.set(text, address);
    return address;
  };
}

function once<Parameters extends unknown[]>(act: (...parameters: Parameters) => void) {
  let done = false;
  return (...parameters: Parameters): void => {
    if (done) return;
    done = true;
    act(...parameters);
  };
}
