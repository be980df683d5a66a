import { z } from 'zod';
import { askServer } from './ask-server.ts';
import { type ClusterAddress, type Host, hostText, nameOfRedis } from './redis-address.ts';
import { failureOf, tlsFailureOf } from './redis-failure.ts';
import { StoreUnavailableError } from './store.ts';

/** A range of slots with its nodes, the master first. A node without a host is the one that answers. */
const slotRanges = z.array(
  z.tuple([z.int(), z.int()]).rest(z.tuple([z.string().nullable(), z.coerce.number()]).rest(z.unknown())),
);

/** Who stores a key. */
export interface SlotState {
  readonly slot: number;
  /** Null if no master owns the slot. */
  readonly owner: Host | null;
  readonly replicas: readonly Host[];
  /** All nodes of the cluster that own slots, or are their replicas. */
  readonly nodes: readonly Host[];
}

/** Asks one node of a cluster who stores a key. */
export async function askForOwner(
  node: Host,
  { tls, credentials }: ClusterAddress,
  key: string,
): Promise<SlotState> {
  const [slot, ranges] = await askServer(node, { tls, credentials }, (client) =>
    Promise.all([client.cluster('KEYSLOT', key), client.cluster('SLOTS')]),
  );
  const parsed = slotRanges.parse(ranges).map(([first, last, ...nodes]) => ({
    has: first <= slot && slot <= last,
    nodes: nodes.map(([host, port]) => hostOf(host, port, node)),
  }));
  const [owner = null, ...replicas] = parsed.find(({ has }) => has)?.nodes ?? [];
  const known = (hosts: readonly (Host | null)[]) => hosts.filter((host) => host !== null);
  return { slot, owner, replicas: known(replicas), nodes: known(parsed.flatMap(({ nodes }) => nodes)) };
}

/**
 * Nodes announce addresses or names. Null or empty: where the node is that was asked. A node whose name or port is not known
 * cannot be used: it is `?`, or has port 0.
 */
function hostOf(host: string | null, port: number, asked: Host): Host | null {
  if (host === '?' || port === 0) return null;
  return { host: host === null || host === '' ? asked.host : host, port };
}

/** The maximum number of nodes that one search asks. The next one asks the others. */
const maxAsked = 6;

/**
 * Creates the search for the master that stores a key. Each search begins with another node than the one before, because a
 * node may be the last to hear of a failover. It asks the nodes of REDIS_URL and those that these have named.
 */
export function createOwnerSearch(address: ClusterAddress, key: string): () => Promise<Host> {
  let nodes: readonly Host[] = address.hosts;
  let turn = 0;
  return async () => {
    const [begin, asked] = [turn, nodes];
    const failures: string[] = [];
    for (let place = 0; place < Math.min(asked.length, maxAsked); place += 1) {
      const node = asked[(begin + place) % asked.length];
      if (node === undefined) continue;
      turn = begin + place + 1;
      try {
        const found = await askForOwner(node, address, key);
        const all = new Map([...address.hosts, ...found.nodes].map((each) => [hostText(each), each]));
        nodes = [...all.values()];
        if (found.owner !== null) return found.owner;
        failures.push(`${hostText(node)} knows no owner of slot ${found.slot}`);
      } catch (error) {
        failures.push(`${hostText(node)} ${nodeFailureOf(error)}`);
      }
    }
    throw new StoreUnavailableError(
      `${nameOfRedis(address)} cannot be used: no node names the master (${failures.join('; ')}). Check REDIS_URL and that ` +
        'the cluster runs.',
    );
  };
}

/** A clause that follows the node's address. */
export function nodeFailureOf(error: unknown): string {
  if (error instanceof Error && error.message.includes('cluster support disabled'))
    return 'is not part of a cluster';
  return tlsFailureOf(error) ?? `cannot be asked (${failureOf(error)})`;
}
