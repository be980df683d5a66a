import { promises as dns } from 'node:dns';
import { type AllowedRanges, isAllowedAddress, literalAddresses } from './url.ts';

/**
 * Finds all addresses of a host name.
 * @returns an empty list if it has none
 */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const timing = { timeout: 2_000, tries: 2 } as const;

/**
 * Asks DNS for the IPv4 and the IPv6 addresses. `dns.lookup` would also read the hosts file, but it blocks a thread of the
 * pool that hashes passwords, and anyone can have a name whose servers do not answer.
 */
export const resolveHost: ResolveHost = async (hostname, signal) => {
  const resolver = new dns.Resolver(timing);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/**
 * The addresses that a request to a host may be sent to. If one address of a name is refused, all are: a name that has
 * public and private addresses is a trick, or a mistake.
 * @returns null if the name has no address, or one that is not allowed. Which of the two is not told, because that would
 *   reveal which names the network of this service knows.
 */
export async function findAddresses(
  hostname: string,
  allowed: AllowedRanges,
  resolve: ResolveHost,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const literal = literalAddresses(hostname)?.filter((address) => isAllowedAddress(address, allowed));
  const addresses = literal ?? (await resolve(hostname, signal));
  const areAllowed = addresses.every((address) => isAllowedAddress(address, allowed));
  return areAllowed && addresses.length > 0 ? addresses : null;
}
