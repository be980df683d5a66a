import { inspectSentinels, type SentinelState } from '../../ephemeral/inspect-sentinels.ts';
import type { SentinelAddress } from '../../ephemeral/redis-address.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('redis');

/** Fewer cannot tell a failed master from a failed network. */
const minSentinels = 3;

/** Checks that the sentinels will replace the master if it fails. */
export async function checkSentinels(address: SentinelAddress): Promise<readonly Finding[]> {
  const states = await inspectSentinels(address);
  const knowing = states.filter(({ master }) => master !== null);
  return [...states.flatMap((state) => checkSentinel(state, address.name)), ...checkTogether(knowing)];
}

function checkSentinel({ sentinel, failure, master, hasQuorum }: SentinelState, name: string): Finding[] {
  if (failure !== null) return [warn(`The sentinel at ${sentinel} ${failure}.`)];
  if (master === null) {
    return [
      fail(
        `The sentinel at ${sentinel} knows no master "${name}": correct the name at the end of REDIS_URL.`,
      ),
    ];
  }
  if (hasQuorum === false) {
    return [
      fail(
        `The sentinel at ${sentinel} does not reach enough other sentinels to replace a failed master (SENTINEL CKQUORUM ` +
          `${name}): start the others, and check their network and their quorum.`,
      ),
    ];
  }
  return [ok(`The sentinel at ${sentinel} names ${master} as the master "${name}"`)];
}

function checkTogether(knowing: readonly SentinelState[]): Finding[] {
  if (knowing.length === 0) return [];
  const masters = new Set(knowing.map(({ master }) => master));
  const sentinels = Math.max(...knowing.map((state) => state.sentinels));
  const replicas = Math.max(...knowing.map((state) => state.replicas));
  const findings: Finding[] = [];
  if (masters.size > 1) {
    findings.push(
      fail(
        `The sentinels name different masters: ${[...masters].join(', ')}. This passes if a failover is in progress.`,
      ),
    );
  }
  if (sentinels < minSentinels) {
    findings.push(
      warn(
        `Only ${sentinels} of at least ${minSentinels} sentinels watch the master: run more, on other machines.`,
      ),
    );
  }
  if (replicas === 0) {
    findings.push(
      warn('The master has no replica, so nothing can replace it: start one on another machine.'),
    );
  }
  return findings;
}
