import { type Connection, openConnection } from './connection.ts';
import { cpuSecondsOf } from './cpu-time.ts';
import type { Scenario } from './scenario.ts';
import type { ServiceProcess } from './service.ts';

/** What one block of one scenario came to. */
export interface Block {
  readonly requests: number;
  readonly seconds: number;
  /** CPU time of the service. */
  readonly cpuSeconds: number;
  /** How long each answer took, in milliseconds. */
  readonly latencies: readonly number[];
}

export interface BlockOptions {
  readonly service: ServiceProcess;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * Drives a scenario over so many connections at once, each asking again as soon as it is answered. Every request that
 * was begun is answered before the CPU time is read, so that none is counted in the next block.
 * @throws {Error} at the first answer that is not right
 */
export async function runBlock(scenario: Scenario, options: BlockOptions): Promise<Block> {
  const { service, seconds, signal } = options;
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () => openConnection(service.port)),
  );
  try {
    const latencies: number[] = [];
    const cpuBefore = cpuSecondsOf(service.pid);
    const begin = performance.now();
    const work = { scenario, latencies, deadline: begin + seconds * 1000, signal };
    await Promise.all(connections.map((connection) => askUntil(connection, work)));
    return {
      requests: latencies.length,
      seconds: (performance.now() - begin) / 1000,
      cpuSeconds: cpuSecondsOf(service.pid) - cpuBefore,
      latencies,
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

interface Work {
  readonly scenario: Scenario;
  readonly latencies: number[];
  readonly deadline: number;
  readonly signal: AbortSignal;
}

async function askUntil(
  connection: Connection,
  { scenario, latencies, deadline, signal }: Work,
): Promise<void> {
  do {
    signal.throwIfAborted();
    const request = scenario.next();
    const begin = performance.now();
    const answer = await connection.ask(request);
    latencies.push(performance.now() - begin);
    const fault = scenario.faultOf(answer);
    if (fault !== null) throw new Error(`${scenario.name}: ${fault}`);
  } while (performance.now() < deadline);
}
