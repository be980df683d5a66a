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

/** Clients whose address cannot be parsed: nothing is stored, IP bans do not apply, and all of them share one rate limit. */
const unknownOrigin: ClientOrigin = { ip: null, limitKey: 'unknown', country: null };
const maxLoggedLength = 100;

/**
 * Makes a function that determines a client's address and country. Behind `trustProxy` reverse proxies, the client
 * address is that many entries from the right of X-Forwarded-For: each proxy appends the address it saw, and entries
 * further left can be forged by the client. Signs of a misconfigured proxy or TRUST_PROXY are logged once.
 */
export function createClientOrigin({ trustProxy, country, log }: ClientOriginOptions) {
  const addressOf = createAddressReader();
  const warnOfTrust = once(() =>
    log.warn(
      'A request has X-Forwarded-For, but TRUST_PROXY is 0. If the service runs behind reverse proxies, set TRUST_PROXY ' +
        'to their number; otherwise all clients share one address and one rate limit',
    ),
  );
  const warnOfAddress = once((address: string) =>
    log.warn(
      { address: address.slice(0, maxLoggedLength) },
      'The client address in X-Forwarded-For cannot be parsed. Check TRUST_PROXY and the proxy configuration: such ' +
        'clients share one rate limit, and IP bans do not apply to them',
    ),
  );

  return (c: Context): ClientOrigin => {
    const hops = c.req.header('x-forwarded-for')?.split(',');
    if (trustProxy === 0 && hops !== undefined) warnOfTrust();
    // With fewer entries than proxies, the request bypassed one of them: use the socket's address.
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

/** Bounds of the cache of parsed addresses, keyed by their text. */
const cacheBounds = { addresses: 10_000, maxLength: 64 } as const;

function createAddressReader(): (text: string) => Address | null {
  const known = new LRUCache<string, Address>({ max: cacheBounds.addresses });
  return (text) => {
    const cached = known.get(text);
    if (cached !== undefined) return cached;
    const ip = parseForwardedAddress(text);
    if (ip === null) return null;
    const address = { ip, limitKey: rateLimitKey(ip) };
    if (text.length <= cacheBounds.maxLength) known.set(text, address);
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
