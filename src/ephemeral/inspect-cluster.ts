import { askServer } from './ask-server.ts';
import { askForOwner, nodeFailureOf } from './find-slot-owner.ts';
import { type ClusterAddress, hostText } from './redis-address.ts';
import { fieldsOf } from './redis-connection.ts';

/** What a node of a cluster says about it. */
export interface ClusterNodeState {
  /** Host and port, as in REDIS_URL. */
  readonly node: string;
  /** Why it cannot be asked; null if it can. */
  readonly failure: string | null;
  /** Whether the node accepts requests (`cluster_state:ok`). */
  readonly isOk: boolean;
  /** The slot of the key, and who stores it: host and port, or null if no master does. */
  readonly slot: number | null;
  readonly owner: string | null;
  readonly replicas: number;
}

/** Asks every node of REDIS_URL about the cluster, and who stores a key. */
export const inspectCluster = (address: ClusterAddress, key: string): Promise<ClusterNodeState[]> =>
  Promise.all(
    address.hosts.map(async (host): Promise<ClusterNodeState> => {
      const node = hostText(host);
      try {
        const { slot, owner, replicas } = await askForOwner(host, address, key);
        const info = await askServer(host, address, (client) => client.cluster('INFO'));
        const isOk = fieldsOf(info).get('cluster_state') === 'ok';
        const ownerText = owner === null ? null : hostText(owner);
        return { node, failure: null, isOk, slot, owner: ownerText, replicas: replicas.length };
      } catch (error) {
        return { node, failure: nodeFailureOf(error), isOk: false, slot: null, owner: null, replicas: 0 };
      }
    }),
  );
