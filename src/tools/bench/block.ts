import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from './connection.ts';
import { cpuSecondsOf } from './cpu-time.ts';
import type { Scenario, Target } from './scenario.ts';
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
  readonly targets: Readonly<Record<Target, ServiceProcess>>;
  readonly connections: number;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/**
 * Drives a scenario over so many connections at once, each asking again as soon as it is answered. Every request that
 * was begun is answered, and what the program does behind its answers (the service writes its log so) is done before
 * the CPU time is read: all of a block's work is counted, and none of it in the next block.
 * @throws {Error} at the first answer that is not right
 */
export async function runBlock(scenario: Scenario, options: BlockOptions): Promise<Block> {
  const { signal } = options;
  const { port, pid } = options.targets[scenario.target ?? 'service'];
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () => openConnection(port)),
  );
  try {
    const latencies: number[] = [];
    const cpuBefore = cpuSecondsOf(pid);
    const begin = performance.now();
    const work = { scenario, latencies, deadline: begin + options.seconds * 1000, signal };
    await Promise.all(connections.map((connection) => askUntil(connection, work)));
    const seconds = (performance.now() - begin) / 1000;
    await untilIdle(pid, signal);
    return { requests: latencies.length, seconds, cpuSeconds: cpuSecondsOf(pid) - cpuBefore, latencies };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The service's log is written at most 250 ms behind; a database that is slower than that is waited for. */
const quietMilliseconds = 300;
const idleLimitMilliseconds = 10_000;
/** What a program that has nothing to do may use meanwhile: a tick of the clock that counts its CPU time, or two. */
const idleCpuSeconds = 0.025;

async function untilIdle(pid: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + idleLimitMilliseconds;
  for (let before = cpuSecondsOf(pid); performance.now() < deadline; ) {
    await sleep(quietMilliseconds, undefined, { signal });
    const now = cpuSecondsOf(pid);
    if (now - before <= idleCpuSeconds) return;
    before = now;
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
