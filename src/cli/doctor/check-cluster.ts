import { type ClusterNodeState, inspectCluster } from '../../ephemeral/inspect-cluster.ts';
import type { ClusterAddress } from '../../ephemeral/redis-address.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('redis');

/**
 * Checks that the cluster stores this installation's keys, and will replace the master that does if it fails.
 * @param key a key of the installation
 */
export async function checkCluster(address: ClusterAddress, key: string): Promise<readonly Finding[]> {
  const states = await inspectCluster(address, key);
  const answering = states.filter(({ failure }) => failure === null);
  return [...states.flatMap(checkNode), ...checkTogether(answering)];
}

function checkNode({ node, failure, isOk }: ClusterNodeState): Finding[] {
  if (failure !== null) return [warn(`The node at ${node} ${failure}.`)];
  if (!isOk) return [fail(`The node at ${node} reports that the cluster is down: see CLUSTER INFO there.`)];
  return [];
}

function checkTogether(answering: readonly ClusterNodeState[]): Finding[] {
  const [first] = answering;
  if (first === undefined) return [];
  const owners = new Set(answering.map(({ owner }) => owner));
  if (owners.size > 1) {
    const named = [...owners].map((owner) => owner ?? 'none').join(', ');
    return [
      fail(
        `The nodes name different masters of slot ${first.slot}: ${named}. This passes if a failover is in progress.`,
      ),
    ];
  }
  if (first.owner === null) {
    return [
      fail(`No master owns slot ${first.slot}, which all keys of this installation are in: assign it.`),
    ];
  }
  const found = ok(`${first.owner} owns slot ${first.slot}, which all keys of this installation are in`);
  const replicas = Math.max(...answering.map((state) => state.replicas));
  if (replicas > 0) return [found];
  return [
    found,
    warn(`${first.owner} has no replica, so nothing can replace it: add one on another machine.`),
  ];
}
