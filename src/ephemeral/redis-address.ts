import { isIP, isIPv6 } from 'node:net';

export interface Host {
  readonly host: string;
  readonly port: number;
}

export interface Credentials {
  /** Null for the `default` user. */
  readonly user: string | null;
  readonly password: string;
}

/** A server whose address REDIS_URL has: `redis://` or `rediss://`, as ioredis reads it. */
export interface SingleAddress {
  readonly kind: 'single';
  readonly url: string;
}

/** The master that sentinels name: `redis+sentinel://` or `rediss+sentinel://`. */
export interface SentinelAddress {
  readonly kind: 'sentinel';
  readonly hosts: readonly Host[];
  /** The name that the sentinels have for the master. */
  readonly name: string;
  readonly database: number;
  readonly tls: boolean;
  readonly credentials: Credentials | null;
  /** For the sentinels themselves. */
  readonly sentinelCredentials: Credentials | null;
}

/** The master of a Redis Cluster that owns this installation's slot: `redis+cluster://` or `rediss+cluster://`. */
export interface ClusterAddress {
  readonly kind: 'cluster';
  /** Some nodes of the cluster; the others are learned from them. */
  readonly hosts: readonly Host[];
  readonly tls: boolean;
  readonly credentials: Credentials | null;
}

/** A master that other servers name, and that changes when they fail over. */
export type LocatedAddress = SentinelAddress | ClusterAddress;
export type RedisAddress = SingleAddress | LocatedAddress;

/** What is wrong with a REDIS_URL, as a predicate: "must …". Contains no part of the URL, which has credentials. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError';
}

const schemes =
  'must be a URL that starts with redis:// or rediss://, or with redis+sentinel:// or redis+cluster:// (rediss+… for TLS)';
const defaultPorts = { sentinel: 26_379, cluster: 6379 } as const;

/** `new URL` refuses a list of hosts with ports. As there, the last @ ends the credentials. */
const located =
  /^redis(?<tls>s?)\+(?<kind>sentinel|cluster):\/\/(?:(?<credentials>[^/?#]*)@)?(?<hosts>[^/?#]*)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/i;

/**
 * Parses REDIS_URL.
 * @throws {RedisUrlError}
 */
export function parseRedisUrl(text: string): RedisAddress {
  if (/\s/.test(text)) throw new RedisUrlError(schemes);
  const { tls, kind, credentials, hosts = '', path = '', query = '' } = located.exec(text)?.groups ?? {};
  if (kind === undefined) {
    if (!/^rediss?:\/\//i.test(text) || !URL.canParse(text)) throw new RedisUrlError(schemes);
    if (new URL(text).hostname.includes(',')) {
      throw new RedisUrlError('must be redis+sentinel:// or redis+cluster:// to have several hosts');
    }
    // ioredis uses TLS only with a scheme in lower case.
    return { kind: 'single', url: text.replace(/^rediss?/i, (scheme) => scheme.toLowerCase()) };
  }
  const shared = { tls: tls !== '', credentials: parseCredentials(credentials) };
  if (kind.toLowerCase() === 'cluster') {
    if (query !== '') throw new RedisUrlError('must have no ?parameters with redis+cluster://');
    if (!/^0?$/.test(path))
      throw new RedisUrlError('must name no database: a Redis Cluster has only number 0');
    return { kind: 'cluster', hosts: parseHosts(hosts, defaultPorts.cluster), ...shared };
  }
  const [name = '', database = '0', ...more] = path.split('/');
  if (name === '' || more.length > 0 || !/^\d{1,5}$/.test(database)) {
    throw new RedisUrlError(
      'must end with /name or /name/database, the name that the sentinels have for the master',
    );
  }
  return {
    kind: 'sentinel',
    hosts: parseHosts(hosts, defaultPorts.sentinel),
    name: decode(name),
    database: Number(database),
    ...shared,
    sentinelCredentials: sentinelCredentials(query, shared.credentials),
  };
}

function parseHosts(list: string, defaultPort: number): Host[] {
  const hosts = list.split(',').map((item): Host => {
    const {
      six,
      name = '',
      port = defaultPort,
    } = /^(?:\[(?<six>[^\]]*)\]|(?<name>[^:@[\]]+))(?::(?<port>\d{1,5}))?$/.exec(item)?.groups ?? {};
    const isHost = six === undefined ? name !== '' : isIPv6(six);
    if (!isHost || Number(port) < 1 || Number(port) > 65_535) throw new RedisUrlError(wrongHosts);
    return { host: six ?? name, port: Number(port) };
  });
  if (new Set(hosts.map(hostText)).size < hosts.length) throw new RedisUrlError('must have each host once');
  return hosts;
}

const wrongHosts =
  'must have hosts such as a.example:26379,b.example,[::1]:26379 after the scheme and credentials';

function parseCredentials(text: string | undefined): Credentials | null {
  if (text === undefined || text === '') return null;
  const colon = text.indexOf(':');
  if (colon === -1) throw new RedisUrlError('must have credentials as user:password@ or :password@');
  return credentialsOf(decode(text.slice(0, colon)), decode(text.slice(colon + 1)));
}

/** Those of Redis, unless the URL has others. An empty password means none. */
function sentinelCredentials(query: string, ofRedis: Credentials | null): Credentials | null {
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (name !== 'sentinelUser' && name !== 'sentinelPassword') {
      throw new RedisUrlError('must have no ?parameters other than sentinelUser and sentinelPassword');
    }
  }
  const [user, password] = [parameters.get('sentinelUser'), parameters.get('sentinelPassword')];
  if (password === null && user !== null)
    throw new RedisUrlError('must have sentinelPassword with sentinelUser');
  return password === null ? ofRedis : credentialsOf(user ?? '', password);
}

function credentialsOf(user: string, password: string): Credentials | null {
  if (password === '' && user === '') return null;
  if (password === '') throw new RedisUrlError('must have a password with the user name');
  return { user: user === '' ? null : user, password };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUrlError('must have percent-encoded special characters, such as %25 for %');
  }
}

/** Host and port, with IPv6 in brackets. */
export const hostText = ({ host, port }: Host): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Host and port of a `redis://` URL, without the credentials. */
export function hostOfUrl(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname || 'localhost'}:${port || '6379'}`;
}

/** The name for TLS's Server Name Indication; none for an IP address (RFC 6066 §3). */
export const serverNameOf = (host: string): string => (isIP(host) === 0 ? host : '');

/** Names the Redis in logs and errors, without the credentials. */
export function nameOfRedis(address: RedisAddress): string {
  switch (address.kind) {
    case 'single':
      return `Redis at ${hostOfUrl(address.url)}`;
    case 'sentinel':
      return `Redis "${address.name}" of the sentinels at ${address.hosts.map(hostText).join(', ')}`;
    case 'cluster':
      return `Redis Cluster at ${address.hosts.map(hostText).join(', ')}`;
  }
}

export const usesTls = (address: RedisAddress): boolean =>
  address.kind === 'single' ? new URL(address.url).protocol === 'rediss:' : address.tls;

/**
 * The first part of every key and channel. In a cluster it is a hash tag, so that all keys are in one slot: one master then
 * has all of them, and a script may use several.
 * @param prefix unique to the installation
 */
export const keyPrefixAt = (address: RedisAddress, prefix: string): string =>
  address.kind === 'cluster' ? `{${prefix.replace(/:$/, '')}}:` : prefix;
